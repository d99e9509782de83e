-- Writes that compare and count in the statement that writes, which the filters of PostgREST cannot say. To be put into
-- a Supabase project once, by whoever may: psql "$DATABASE_URL" -f functions.sql. Over Postgres nothing is installed:
-- there they are made for one transaction, in pg_temp.
--
-- Each is one transaction, runs with the rights of its caller, and refuses where row-level security would hide a row.
-- Rows come as JSON as they were read, and are compared in the JSON that this database makes of them, in which NULL and
-- JSON's own null are one, as they were for whoever read them. Each returns {"state": ...}: done; done-already; kept,
-- with the references that keep it; contested, with what there is now, and nothing was written.

CREATE OR REPLACE FUNCTION public.benchwright_functions() RETURNS integer LANGUAGE sql IMMUTABLE AS $$ SELECT 3 $$;

-- One row of a table from what was seen of it to what is wanted.
CREATE OR REPLACE FUNCTION public.benchwright_change_row(
    target text, row_key jsonb, row_owner text, seen jsonb, wanted jsonb
) RETURNS jsonb LANGUAGE plpgsql SET search_path = public, pg_temp SET timezone = 'UTC' SET row_security = off AS $$
DECLARE
    -- A row of a table whose rows have owners is nobody's where none is named.
    is_own text := CASE target WHEN 'sandbox_jobs' THEN 'one.username IS NOT DISTINCT FROM $2' ELSE '$2 IS NULL' END;
    is_equal CONSTANT text := $q$coalesce(to_jsonb(one.%1$I), 'null') = coalesce(to_jsonb(%2$s.%1$I), 'null')$q$;
    is_there text;
    is_unchanged text;
    is_done text;
    changes text;
    before jsonb;
    after jsonb;
    own boolean;
    already boolean;
BEGIN
    SELECT string_agg(format('one.%1$I = key.%1$I', name), ' AND ') INTO is_there FROM jsonb_object_keys(row_key) name;
    SELECT string_agg(format(is_equal, name, 'was'), ' AND ') INTO is_unchanged
        FROM jsonb_object_keys(seen) name;
    SELECT string_agg(format(is_equal, name, 'new'), ' AND ') INTO is_done
        FROM jsonb_object_keys(wanted) name;
    SELECT string_agg(format('%1$I = new.%1$I', name), ', ') INTO changes FROM jsonb_object_keys(wanted) name;
    EXECUTE format(
        'SELECT to_jsonb(one), %2$s, %3$s FROM %1$I one, jsonb_populate_record(NULL::%1$I, $1) key,'
        ' jsonb_populate_record(NULL::%1$I, $3) new WHERE %4$s FOR UPDATE OF one',
        target, is_own, is_done, is_there
    ) INTO before, own, already USING row_key, row_owner, wanted;
    IF own AND already THEN
        RETURN jsonb_build_object('state', 'done-already', 'before', before, 'after', before);
    END IF;
    EXECUTE format(
        'UPDATE %1$I one SET %2$s FROM jsonb_populate_record(NULL::%1$I, $1) key,'
        ' jsonb_populate_record(NULL::%1$I, $3) new, jsonb_populate_record(NULL::%1$I, $4) was'
        ' WHERE %3$s AND %4$s AND %5$s RETURNING to_jsonb(one)',
        target, changes, is_there, is_own, is_unchanged
    ) INTO after USING row_key, row_owner, wanted, seen;
    IF after IS NULL THEN
        RETURN jsonb_build_object('state', 'contested', 'now', before);
    END IF;
    RETURN jsonb_build_object('state', 'done', 'before', before, 'after', after);
END
$$;

-- How many rows of anybody refer to a row, by TABLE.COLUMN, without those that none does. The foreign keys that the
-- database has are asked for, since it may have more tables than this file knows.
CREATE OR REPLACE FUNCTION public.benchwright_references(target text, row_id uuid, besides text)
RETURNS jsonb LANGUAGE plpgsql SET search_path = public, pg_temp SET row_security = off AS $$
DECLARE
    place record;
    number bigint;
    counts jsonb := '{}';
BEGIN
    FOR place IN
        SELECT conrelid::regclass::text AS referring, attname::text AS by_column
        FROM pg_constraint JOIN pg_attribute ON attrelid = conrelid AND attnum = conkey[1]
        WHERE contype = 'f' AND confrelid = target::regclass
        UNION
        SELECT referring, by_column FROM (VALUES
            ('models', 'sandbox_jobs', 'model_id'),
            ('models', 'sandbox_trial_model_usage', 'model_id'),
            ('models', 'models', 'base_model_id'),
            ('models', 'models', 'duplicate_of'),
            ('benchmarks', 'sandbox_jobs', 'benchmark_id'),
            ('benchmarks', 'benchmarks', 'duplicate_of')
        ) known (of_table, referring, by_column) WHERE of_table = target
        ORDER BY 1, 2
    LOOP
        CONTINUE WHEN place.referring = besides;
        EXECUTE format('SELECT count(*) FROM %s WHERE %I = $1', place.referring, place.by_column)
            INTO number USING row_id;
        IF number > 0 THEN
            counts := counts || jsonb_build_object(place.referring || '.' || place.by_column, number);
        END IF;
    END LOOP;
    RETURN counts;
END
$$;

-- What the trials of a job used.
CREATE OR REPLACE FUNCTION public.benchwright_usage_of(target uuid) RETURNS SETOF public.sandbox_trial_model_usage
LANGUAGE sql STABLE SET search_path = public, pg_temp SET row_security = off AS $$
    SELECT * FROM sandbox_trial_model_usage WHERE trial_id IN (SELECT id FROM sandbox_trials WHERE job_id = target)
$$;

-- A row of a job with its trials and their usage: exactly those that were seen.
CREATE OR REPLACE FUNCTION public.benchwright_delete_job(row_owner text, job jsonb, trials jsonb, usage jsonb)
RETURNS jsonb LANGUAGE plpgsql SET search_path = public, pg_temp SET timezone = 'UTC' SET row_security = off AS $$
DECLARE
    target uuid := job ->> 'id';
    present sandbox_jobs;
    others jsonb;
BEGIN
    SELECT * INTO present FROM sandbox_jobs WHERE id = target FOR UPDATE; -- no new trial can refer to it from here on
    IF NOT FOUND THEN
        RETURN jsonb_build_object('state', 'done-already');
    END IF;
    PERFORM FROM sandbox_trials WHERE job_id = target FOR UPDATE;
    PERFORM FROM sandbox_trial_model_usage WHERE trial_id IN (SELECT id FROM sandbox_trials WHERE job_id = target)
        FOR UPDATE; -- what is compared below stays as it is until it is deleted
    others := public.benchwright_references('sandbox_jobs', target, 'sandbox_trials');
    IF present.username IS DISTINCT FROM row_owner
        OR to_jsonb(present) <> to_jsonb(jsonb_populate_record(NULL::sandbox_jobs, job))
        OR EXISTS (
            (SELECT to_jsonb(one) FROM sandbox_trials one WHERE job_id = target
                EXCEPT SELECT to_jsonb(one) FROM jsonb_populate_recordset(NULL::sandbox_trials, trials) one)
            UNION ALL
            (SELECT to_jsonb(one) FROM jsonb_populate_recordset(NULL::sandbox_trials, trials) one
                EXCEPT SELECT to_jsonb(one) FROM sandbox_trials one WHERE job_id = target)
        )
        OR EXISTS (
            (SELECT to_jsonb(one) FROM public.benchwright_usage_of(target) one
                EXCEPT SELECT to_jsonb(one) FROM jsonb_populate_recordset(NULL::sandbox_trial_model_usage, usage) one)
            UNION ALL
            (SELECT to_jsonb(one) FROM jsonb_populate_recordset(NULL::sandbox_trial_model_usage, usage) one
                EXCEPT SELECT to_jsonb(one) FROM public.benchwright_usage_of(target) one)
        )
        OR others <> '{}'
    THEN
        RETURN jsonb_build_object('state', 'contested', 'now', to_jsonb(present), 'references', others);
    END IF;
    DELETE FROM sandbox_trial_model_usage WHERE trial_id IN (SELECT id FROM sandbox_trials WHERE job_id = target);
    DELETE FROM sandbox_trials WHERE job_id = target;
    DELETE FROM sandbox_jobs WHERE id = target AND username = row_owner;
    RETURN jsonb_build_object('state', 'done', 'before', to_jsonb(present));
END
$$;

-- Some trials of a job with their usage: exactly as they were seen. The job and its other trials stay.
CREATE OR REPLACE FUNCTION public.benchwright_drop_trials(row_owner text, target uuid, trials jsonb, usage jsonb)
RETURNS jsonb LANGUAGE plpgsql SET search_path = public, pg_temp SET timezone = 'UTC' SET row_security = off AS $$
DECLARE
    named uuid[] := ARRAY(SELECT id FROM jsonb_populate_recordset(NULL::sandbox_trials, trials));
    present sandbox_jobs;
    trial uuid;
    others jsonb := '{}';
BEGIN
    SELECT * INTO present FROM sandbox_jobs WHERE id = target FOR UPDATE;
    PERFORM FROM sandbox_trials WHERE id = ANY (named) FOR UPDATE; -- no new usage can refer to them from here on
    IF NOT FOUND AND present.username = row_owner THEN
        RETURN jsonb_build_object('state', 'done-already');
    END IF;
    PERFORM FROM sandbox_trial_model_usage WHERE trial_id = ANY (named) FOR UPDATE;
    FOREACH trial IN ARRAY named LOOP
        others := others || public.benchwright_references('sandbox_trials', trial, 'sandbox_trial_model_usage');
    END LOOP;
    IF present.username IS DISTINCT FROM row_owner
        OR EXISTS (
            (SELECT to_jsonb(one) FROM sandbox_trials one WHERE id = ANY (named)
                EXCEPT SELECT to_jsonb(one) FROM jsonb_populate_recordset(NULL::sandbox_trials, trials) one)
            UNION ALL
            (SELECT to_jsonb(one) FROM jsonb_populate_recordset(NULL::sandbox_trials, trials) one
                EXCEPT SELECT to_jsonb(one) FROM sandbox_trials one WHERE job_id = target)
        )
        OR EXISTS (
            (SELECT to_jsonb(one) FROM sandbox_trial_model_usage one WHERE trial_id = ANY (named)
                EXCEPT SELECT to_jsonb(one) FROM jsonb_populate_recordset(NULL::sandbox_trial_model_usage, usage) one)
            UNION ALL
            (SELECT to_jsonb(one) FROM jsonb_populate_recordset(NULL::sandbox_trial_model_usage, usage) one
                EXCEPT SELECT to_jsonb(one) FROM sandbox_trial_model_usage one WHERE trial_id = ANY (named))
        )
        OR others <> '{}'
    THEN
        RETURN jsonb_build_object('state', 'contested', 'now', to_jsonb(present), 'references', others);
    END IF;
    DELETE FROM sandbox_trial_model_usage WHERE trial_id = ANY (named);
    DELETE FROM sandbox_trials WHERE id = ANY (named) AND job_id = target;
    RETURN jsonb_build_object('state', 'done');
END
$$;

-- The usage rows of all trials of one job, from those that were seen to those that are wanted.
CREATE OR REPLACE FUNCTION public.benchwright_change_usage(row_owner text, target uuid, seen jsonb, wanted jsonb)
RETURNS jsonb LANGUAGE plpgsql SET search_path = public, pg_temp SET timezone = 'UTC' SET row_security = off AS $$
DECLARE
    present sandbox_jobs;
    aims jsonb[] := ARRAY[wanted, seen];
    aim jsonb;
    is_there boolean;
BEGIN
    SELECT * INTO present FROM sandbox_jobs WHERE id = target FOR UPDATE;
    PERFORM FROM sandbox_trials WHERE job_id = target FOR UPDATE; -- no new usage can refer to them from here on
    PERFORM FROM sandbox_trial_model_usage WHERE trial_id IN (SELECT id FROM sandbox_trials WHERE job_id = target)
        FOR UPDATE;
    FOREACH aim IN ARRAY aims LOOP
        is_there := present.username = row_owner AND NOT EXISTS (
            (SELECT to_jsonb(one) FROM public.benchwright_usage_of(target) one
                EXCEPT SELECT to_jsonb(one) FROM jsonb_populate_recordset(NULL::sandbox_trial_model_usage, aim) one)
            UNION ALL
            (SELECT to_jsonb(one) FROM jsonb_populate_recordset(NULL::sandbox_trial_model_usage, aim) one
                EXCEPT SELECT to_jsonb(one) FROM public.benchwright_usage_of(target) one)
        );
        EXIT WHEN is_there;
    END LOOP;
    IF is_there IS NOT TRUE OR EXISTS (
        SELECT trial_id FROM jsonb_populate_recordset(NULL::sandbox_trial_model_usage, wanted)
        EXCEPT SELECT id FROM sandbox_trials WHERE job_id = target
    ) THEN
        RETURN jsonb_build_object('state', 'contested', 'now', to_jsonb(present));
    ELSIF aim = wanted THEN
        RETURN jsonb_build_object('state', 'done-already');
    END IF;
    DELETE FROM sandbox_trial_model_usage WHERE trial_id IN (SELECT id FROM sandbox_trials WHERE job_id = target);
    INSERT INTO sandbox_trial_model_usage
        SELECT * FROM jsonb_populate_recordset(NULL::sandbox_trial_model_usage, wanted);
    RETURN jsonb_build_object('state', 'done');
END
$$;

-- A model that nothing of anybody refers to.
CREATE OR REPLACE FUNCTION public.benchwright_drop_model(model jsonb)
RETURNS jsonb LANGUAGE plpgsql SET search_path = public, pg_temp SET timezone = 'UTC' SET row_security = off AS $$
DECLARE
    target uuid := model ->> 'id';
    present models;
    others jsonb;
BEGIN
    SELECT * INTO present FROM models WHERE id = target FOR UPDATE; -- no new row can refer to it from here on
    IF NOT FOUND THEN
        RETURN jsonb_build_object('state', 'done-already');
    ELSIF to_jsonb(present) <> to_jsonb(jsonb_populate_record(NULL::models, model)) THEN
        RETURN jsonb_build_object('state', 'contested', 'now', to_jsonb(present));
    END IF;
    others := public.benchwright_references('models', target, '');
    IF others <> '{}' THEN
        RETURN jsonb_build_object('state', 'kept', 'references', others);
    END IF;
    DELETE FROM models WHERE id = target;
    RETURN jsonb_build_object('state', 'done', 'before', to_jsonb(present));
END
$$;

-- A benchmark that nothing of anybody refers to but its own tasks, which go with it: exactly those that were seen.
CREATE OR REPLACE FUNCTION public.benchwright_drop_benchmark(benchmark jsonb, tasks jsonb)
RETURNS jsonb LANGUAGE plpgsql SET search_path = public, pg_temp SET timezone = 'UTC' SET row_security = off AS $$
DECLARE
    target uuid := benchmark ->> 'id';
    present benchmarks;
    others jsonb;
BEGIN
    SELECT * INTO present FROM benchmarks WHERE id = target FOR UPDATE; -- no new row can refer to it from here on
    IF NOT FOUND THEN
        RETURN jsonb_build_object('state', 'done-already');
    END IF;
    PERFORM FROM sandbox_benchmark_tasks WHERE benchmark_id = target FOR UPDATE;
    others := public.benchwright_references('benchmarks', target, 'sandbox_benchmark_tasks');
    IF others <> '{}' THEN
        RETURN jsonb_build_object('state', 'kept', 'references', others);
    ELSIF to_jsonb(present) <> to_jsonb(jsonb_populate_record(NULL::benchmarks, benchmark))
        OR EXISTS (
            (SELECT to_jsonb(one) FROM sandbox_benchmark_tasks one WHERE benchmark_id = target
                EXCEPT SELECT to_jsonb(one) FROM jsonb_populate_recordset(NULL::sandbox_benchmark_tasks, tasks) one)
            UNION ALL
            (SELECT to_jsonb(one) FROM jsonb_populate_recordset(NULL::sandbox_benchmark_tasks, tasks) one
                EXCEPT SELECT to_jsonb(one) FROM sandbox_benchmark_tasks one WHERE benchmark_id = target)
        )
    THEN
        RETURN jsonb_build_object('state', 'contested', 'now', to_jsonb(present));
    END IF;
    DELETE FROM sandbox_benchmark_tasks WHERE benchmark_id = target;
    DELETE FROM benchmarks WHERE id = target;
    RETURN jsonb_build_object('state', 'done', 'before', to_jsonb(present));
END
$$;
