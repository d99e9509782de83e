-- The evaluation database, in the form of the live one: a pair of model and benchmark may have many rows, names of
-- benchmarks are unique and names of models are not, nothing cascades. Functions are not part of this file.

CREATE TYPE job_status_enum AS ENUM ('Pending', 'Started', 'Finished', 'Failed');

CREATE TABLE datasets (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name text NOT NULL UNIQUE,
    created_by text NOT NULL,
    creation_location text NOT NULL,
    creation_time timestamptz DEFAULT now(),
    generation_start timestamptz,
    generation_end timestamptz,
    generation_status text,
    generation_parameters jsonb NOT NULL,
    data_location text NOT NULL,
    dataset_type text NOT NULL CHECK (dataset_type IN ('SFT', 'RL')),
    data_generation_hash text,
    hf_fingerprint text,
    hf_commit_hash text,
    num_tasks integer,
    last_modified timestamptz,
    updated_at timestamptz DEFAULT now()
);

CREATE TABLE agents (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name text NOT NULL,
    agent_version_hash char(64),
    description text,
    duplicate_of uuid REFERENCES agents ON DELETE RESTRICT CHECK (duplicate_of <> id),
    updated_at timestamptz DEFAULT now()
);

CREATE TABLE models (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name text NOT NULL,
    base_model_id uuid REFERENCES models,
    duplicate_of uuid REFERENCES models ON DELETE RESTRICT CHECK (duplicate_of <> id),
    created_by text NOT NULL,
    creation_location text NOT NULL,
    creation_time timestamptz DEFAULT now(),
    dataset_id uuid REFERENCES datasets,
    dataset_names text,
    is_external boolean NOT NULL DEFAULT false,
    weights_location text NOT NULL,
    wandb_link text,
    training_start timestamptz NOT NULL,
    training_end timestamptz,
    training_parameters jsonb NOT NULL,
    training_status text,
    training_type text CHECK (training_type IN ('SFT', 'RL')),
    agent_id uuid NOT NULL, -- refers to no table in the live form
    traces_location_s3 text,
    description text,
    is_long_context boolean,
    is_hf_bucketed boolean,
    model_size_b bigint,
    updated_at timestamptz DEFAULT now()
);
CREATE INDEX ON models (name);
CREATE INDEX ON models (base_model_id);
CREATE INDEX ON models (duplicate_of);

CREATE TABLE benchmarks (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    name text NOT NULL UNIQUE,
    benchmark_version_hash char(64),
    is_external boolean NOT NULL DEFAULT false,
    duplicate_of uuid REFERENCES benchmarks ON DELETE RESTRICT CHECK (duplicate_of <> id),
    external_link text,
    description text,
    updated_at timestamptz DEFAULT now()
);
CREATE INDEX ON benchmarks (duplicate_of);

CREATE TABLE sandbox_tasks (
    checksum text PRIMARY KEY,
    created_at timestamptz NOT NULL DEFAULT now(),
    source text,
    name text NOT NULL,
    instruction text NOT NULL DEFAULT '',
    agent_timeout_sec numeric NOT NULL,
    verifier_timeout_sec numeric NOT NULL,
    git_url text,
    git_commit_id text,
    path text NOT NULL,
    UNIQUE (source, name)
);

CREATE TABLE sandbox_benchmark_tasks (
    benchmark_id uuid NOT NULL REFERENCES benchmarks,
    benchmark_name text NOT NULL,
    benchmark_version_hash char(64) NOT NULL,
    task_checksum text NOT NULL REFERENCES sandbox_tasks,
    UNIQUE (benchmark_id, task_checksum)
);

CREATE TABLE sandbox_jobs (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    created_at timestamptz NOT NULL DEFAULT now(),
    job_name text NOT NULL,
    username text NOT NULL,
    submitted_at timestamptz,
    started_at timestamptz,
    ended_at timestamptz,
    slurm_job_id text,
    git_commit_id text,
    package_version text,
    n_trials integer NOT NULL,
    n_rep_eval integer NOT NULL,
    config jsonb NOT NULL,
    metrics jsonb,
    stats jsonb,
    agent_id uuid NOT NULL REFERENCES agents,
    model_id uuid NOT NULL REFERENCES models,
    benchmark_id uuid NOT NULL REFERENCES benchmarks,
    hf_traces_link text,
    job_status job_status_enum NOT NULL DEFAULT 'Started',
    is_overlong boolean,
    notes text,
    CHECK (job_status = 'Pending' OR git_commit_id IS NOT NULL OR package_version IS NOT NULL)
);
CREATE INDEX ON sandbox_jobs (job_name);
CREATE INDEX ON sandbox_jobs (model_id);
CREATE INDEX ON sandbox_jobs (benchmark_id);
CREATE INDEX ON sandbox_jobs (created_at);

CREATE TABLE sandbox_trials (
    id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    trial_name text NOT NULL,
    trial_uri text NOT NULL,
    job_id uuid REFERENCES sandbox_jobs,
    task_checksum text NOT NULL REFERENCES sandbox_tasks,
    reward numeric,
    started_at timestamptz,
    ended_at timestamptz,
    environment_setup_started_at timestamptz,
    environment_setup_ended_at timestamptz,
    agent_setup_started_at timestamptz,
    agent_setup_ended_at timestamptz,
    agent_execution_started_at timestamptz,
    agent_execution_ended_at timestamptz,
    verifier_started_at timestamptz,
    verifier_ended_at timestamptz,
    config jsonb NOT NULL,
    exception_info jsonb,
    created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON sandbox_trials (job_id);
CREATE INDEX ON sandbox_trials (trial_name);

CREATE TABLE sandbox_trial_model_usage (
    trial_id uuid NOT NULL REFERENCES sandbox_trials,
    model_id uuid NOT NULL REFERENCES models,
    model_provider text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    n_input_tokens integer,
    n_output_tokens integer,
    PRIMARY KEY (trial_id, model_id, model_provider)
);
CREATE INDEX ON sandbox_trial_model_usage (model_id);

CREATE FUNCTION set_updated_at() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.updated_at := now();
    RETURN NEW;
END
$$;
CREATE TRIGGER set_updated_at BEFORE UPDATE ON datasets FOR EACH ROW EXECUTE FUNCTION set_updated_at();
CREATE TRIGGER set_updated_at BEFORE UPDATE ON agents FOR EACH ROW EXECUTE FUNCTION set_updated_at();
CREATE TRIGGER set_updated_at BEFORE UPDATE ON models FOR EACH ROW EXECUTE FUNCTION set_updated_at();
CREATE TRIGGER set_updated_at BEFORE UPDATE ON benchmarks FOR EACH ROW EXECUTE FUNCTION set_updated_at();
