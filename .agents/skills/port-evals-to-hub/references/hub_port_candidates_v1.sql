-- The one view that find_candidates.py reads from the database of Papers With Code.
--
-- For the owner of the database: map your tables to these columns, by these names; more columns do no harm. One row is
-- one metric of one result. A change that takes a column away, or gives it another meaning, is hub_port_candidates_v2.
--
--   result_id         unique for a result and its metric, the same in each run
--   hf_model_url      address or id of the evaluated checkpoint on the Hub; rows without it are not read
--   model_name        as the result has it
--   dataset_slug      the benchmark; dataset_name: its name
--   task_slug         the task, or null
--   metric_name       the metric
--   higher_is_better  boolean, or null
--   unit              percent, fraction or other, or null where it is not known
--   value_text        the value in the digits of its source
--   value             the same as a number, or null
--   harness           what it was run with, or null
--   evaluated_on      day of the evaluation, or null
--   published         day of the paper, or null
--   arxiv_id          of the paper, or null
--   paper_title       of the paper, or null
--   source_url        where the value is printed, or null
--
-- The script's transactions are read-only and bounded in time. A role that may read the view and nothing else will do:
--   grant usage on schema public to ROLE;
--   grant select on hub_port_candidates_v1 to ROLE;
--
-- What follows fits tables papers, tasks, datasets, metrics, models and results of the plainest kind. Adapt it.

create or replace view hub_port_candidates_v1 as
select
    r.id as result_id,
    coalesce(nullif(r.hf_model_url, ''), nullif(m.hf_model_url, '')) as hf_model_url,
    m.name as model_name,
    d.slug as dataset_slug,
    d.name as dataset_name,
    t.slug as task_slug,
    me.name as metric_name,
    me.higher_is_better,
    me.unit,
    r.value_text,
    r.value,
    r.harness,
    r.evaluated_on,
    p.published,
    p.arxiv_id,
    p.title as paper_title,
    coalesce(nullif(r.source_url, ''), p.url) as source_url
from results as r
join models as m on m.id = r.model_id
join datasets as d on d.id = r.dataset_id
join metrics as me on me.id = r.metric_id
left join tasks as t on t.id = r.task_id
left join papers as p on p.id = r.paper_id;
