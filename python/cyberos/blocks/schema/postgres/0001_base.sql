-- Block memory. What must never happen is refused here and not only by the program: see the triggers.
-- Times are nanoseconds since 1970, UTC. Ids are made by the program; what a client chooses is unique per principal only.

-- Who owns what. All credentials of one person or service stand for one principal.
CREATE TABLE principal(
  principal_id text NOT NULL CONSTRAINT principal_pk PRIMARY KEY,
  display text NOT NULL,
  state text NOT NULL DEFAULT 'active' CONSTRAINT principal_state CHECK(state IN('active','disabled')),
  created_ns bigint NOT NULL);
CREATE TABLE credential(
  credential_id text NOT NULL CONSTRAINT credential_pk PRIMARY KEY,
  principal_id text NOT NULL CONSTRAINT credential_principal REFERENCES principal(principal_id),
  display text NOT NULL,
  token_sha256 bytea NOT NULL CONSTRAINT credential_token UNIQUE
    CONSTRAINT credential_token_length CHECK(octet_length(token_sha256)=32),
  scopes text NOT NULL,
  created_ns bigint NOT NULL,
  expires_ns bigint NOT NULL CONSTRAINT credential_expires CHECK(expires_ns>created_ns),
  revoked_ns bigint);
CREATE INDEX credential_of ON credential(principal_id);

-- Whether anything may be changed at all.
CREATE TABLE kill_switch(
  scope text NOT NULL CONSTRAINT kill_switch_pk PRIMARY KEY CONSTRAINT kill_switch_scope CHECK(scope='mutations'),
  enabled bigint NOT NULL CONSTRAINT kill_switch_enabled CHECK(enabled IN(0,1)),
  actor text NOT NULL, reason text NOT NULL, at_ns bigint NOT NULL);
CREATE TABLE kill_switch_log(
  seq bigint NOT NULL CONSTRAINT kill_switch_log_pk PRIMARY KEY,
  scope text NOT NULL, enabled bigint NOT NULL, actor text NOT NULL, reason text NOT NULL, at_ns bigint NOT NULL);

-- A project belongs to one principal. Its row is the lock of all that is changed in it, and points at its canonical head.
CREATE TABLE project(
  project_id text NOT NULL CONSTRAINT project_pk PRIMARY KEY,
  principal_id text NOT NULL CONSTRAINT project_principal REFERENCES principal(principal_id),
  name text NOT NULL CONSTRAINT project_name_length CHECK(length(name) BETWEEN 1 AND 100),
  availability text NOT NULL DEFAULT 'live'
    CONSTRAINT project_availability CHECK(availability IN('live','importing','maintenance','purging','destroyed')),
  contract_version bigint NOT NULL DEFAULT 11,
  integration_state text NOT NULL DEFAULT 'uninitialized'
    CONSTRAINT project_integration_state CHECK(integration_state IN('uninitialized','ready','fenced')),
  integration_epoch bigint,
  integration_head text,
  next_project_seq bigint NOT NULL DEFAULT 0,
  next_event_seq bigint NOT NULL DEFAULT 1,
  block_count bigint NOT NULL DEFAULT 0,
  payload_bytes bigint NOT NULL DEFAULT 0,
  created_ns bigint NOT NULL,
  CONSTRAINT project_owner UNIQUE(project_id, principal_id),
  CONSTRAINT project_name UNIQUE(principal_id, name),
  CONSTRAINT project_head_has_epoch CHECK(integration_head IS NULL OR integration_epoch IS NOT NULL),
  CONSTRAINT project_ready_has_head CHECK(integration_state<>'ready' OR integration_head IS NOT NULL),
  CONSTRAINT project_uninitialized_has_none CHECK(integration_state<>'uninitialized' OR integration_head IS NULL));
-- The stores whose chains anchor a project; the first one is that from which it was enrolled.
CREATE TABLE project_store(
  project_id text NOT NULL,
  store_id text NOT NULL,
  principal_id text NOT NULL,
  bound_ns bigint NOT NULL,
  CONSTRAINT project_store_pk PRIMARY KEY(project_id, store_id),
  CONSTRAINT project_store_project FOREIGN KEY(project_id, principal_id)
    REFERENCES project(project_id, principal_id));
CREATE INDEX project_store_of ON project_store(store_id, principal_id);

-- What an administrator does to a project: while a run executes, some of what is forbidden below is allowed.
CREATE TABLE admin_run(
  run_id text NOT NULL,
  project_id text NOT NULL CONSTRAINT admin_run_project REFERENCES project(project_id),
  kind text NOT NULL CONSTRAINT admin_run_kind CHECK(kind IN('migration','import','import_rollback','purge','destroy')),
  state text NOT NULL CONSTRAINT admin_run_state CHECK(state IN('open','executing','completed','aborted','rolled_back')),
  actor text NOT NULL,
  started_ns bigint NOT NULL,
  finished_ns bigint,
  declared_total bigint,
  source_sha256 bytea, before_sha256 bytea, after_sha256 bytea,
  report text,
  CONSTRAINT admin_run_pk PRIMARY KEY(project_id, run_id));
CREATE UNIQUE INDEX admin_run_one ON admin_run(project_id) WHERE state IN('open','executing');

-- A session is one branch. Whether it is dormant is not stored: that follows from last_activity_ns.
CREATE TABLE session(
  session_id text NOT NULL,
  project_id text NOT NULL,
  principal_id text NOT NULL,
  native_ref text NOT NULL CONSTRAINT session_native_ref CHECK(native_ref LIKE '_%:_%'),
  generation bigint NOT NULL CONSTRAINT session_generation_from_1 CHECK(generation>=1),
  successor_of text,
  transcript_id text,
  origin text NOT NULL CONSTRAINT session_origin CHECK(origin IN('live','import','legacy')),
  status text NOT NULL CONSTRAINT session_status CHECK(status IN('open','ended','abandoned','reconciled')),
  base_epoch bigint,
  base_block_id text,
  tip_block_id text NOT NULL,
  tip_seq bigint NOT NULL,
  content_blocks bigint NOT NULL DEFAULT 0,
  content_tokens bigint NOT NULL DEFAULT 0,
  actor text NOT NULL,
  started_ns bigint NOT NULL,
  last_activity_ns bigint NOT NULL,
  terminal_ns bigint,
  terminal_block_id text,
  terminal_actor text,
  integrated_epoch bigint,
  run_id text,
  CONSTRAINT session_pk PRIMARY KEY(project_id, session_id),
  CONSTRAINT session_generation UNIQUE(project_id, principal_id, native_ref, generation),
  CONSTRAINT session_project FOREIGN KEY(project_id, principal_id) REFERENCES project(project_id, principal_id),
  CONSTRAINT session_successor FOREIGN KEY(project_id, successor_of) REFERENCES session(project_id, session_id),
  CONSTRAINT session_live_has_base CHECK(origin<>'live' OR base_epoch IS NOT NULL),
  CONSTRAINT session_base_whole CHECK((base_epoch IS NULL)=(base_block_id IS NULL)),
  CONSTRAINT session_successor_generation CHECK((generation=1)=(successor_of IS NULL)),
  CONSTRAINT session_terminal_time CHECK((status='open')=(terminal_ns IS NULL)),
  CONSTRAINT session_terminal_block CHECK((status='open')=(terminal_block_id IS NULL)),
  CONSTRAINT session_terminal_actor CHECK((status='open')=(terminal_actor IS NULL)),
  CONSTRAINT session_only_ended_integrates CHECK(status='ended' OR integrated_epoch IS NULL),
  CONSTRAINT session_ended_is_integrated CHECK(NOT(status='ended' AND origin='live') OR integrated_epoch IS NOT NULL),
  CONSTRAINT session_reconciled_is_legacy CHECK(status<>'reconciled' OR origin='legacy'));
CREATE UNIQUE INDEX session_one_open ON session(project_id, principal_id, native_ref) WHERE status='open';
CREATE INDEX session_integrated ON session(project_id, integrated_epoch) WHERE integrated_epoch IS NOT NULL;
CREATE INDEX session_open_by_activity ON session(project_id, last_activity_ns) WHERE status='open';
CREATE INDEX session_by_start ON session(project_id, started_ns);
-- By these SQLite finds what a new row may settle of the references that are checked at the end.
CREATE INDEX session_by_tip ON session(project_id, tip_block_id);
CREATE INDEX session_by_terminal ON session(project_id, terminal_block_id);
CREATE INDEX session_by_successor ON session(project_id, successor_of);

-- A block is a node of the graph and never changes. Its content lies apart in block_body, so that it can be purged.
-- hash covers this row, the hashes of the parents and payload_sha256: a head's hash covers all history before it.
CREATE TABLE block(
  block_id text NOT NULL,
  project_id text NOT NULL,
  principal_id text NOT NULL,
  session_id text,
  session_seq bigint,
  project_seq bigint NOT NULL,
  kind text NOT NULL CONSTRAINT block_kind CHECK(kind IN('baseline','session_start','note','session_end','abandon')),
  parent_count bigint NOT NULL CONSTRAINT block_parents CHECK(parent_count BETWEEN 0 AND 2),
  payload_sha256 bytea NOT NULL CONSTRAINT block_payload_sha256 CHECK(octet_length(payload_sha256)=32),
  payload_bytes bigint NOT NULL CONSTRAINT block_payload_bytes CHECK(payload_bytes>=0),
  token_est bigint NOT NULL CONSTRAINT block_token_est CHECK(token_est>=0),
  fact_key text,
  actor text NOT NULL,
  occurred_ns bigint NOT NULL,
  created_ns bigint NOT NULL,
  hash bytea NOT NULL CONSTRAINT block_hash CHECK(octet_length(hash)=32),
  CONSTRAINT block_pk PRIMARY KEY(project_id, block_id),
  CONSTRAINT block_position UNIQUE(project_id, block_id, project_seq),
  CONSTRAINT block_order UNIQUE(project_id, project_seq),
  CONSTRAINT block_session_order UNIQUE(project_id, session_id, session_seq),
  CONSTRAINT block_project FOREIGN KEY(project_id, principal_id) REFERENCES project(project_id, principal_id),
  CONSTRAINT block_session FOREIGN KEY(project_id, session_id)
    REFERENCES session(project_id, session_id) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT block_baseline_alone CHECK((kind='baseline')=(session_id IS NULL)),
  CONSTRAINT block_session_seq CHECK((session_id IS NULL)=(session_seq IS NULL)),
  CONSTRAINT block_baseline_root CHECK(kind<>'baseline' OR parent_count=0),
  CONSTRAINT block_has_parent CHECK(kind IN('baseline','session_start') OR parent_count>=1),
  CONSTRAINT block_two_parents CHECK(parent_count<2 OR kind='session_end'));
CREATE UNIQUE INDEX block_one_baseline ON block(project_id) WHERE kind='baseline';
CREATE UNIQUE INDEX block_one_start ON block(project_id, session_id) WHERE kind='session_start';
CREATE UNIQUE INDEX block_one_terminal ON block(project_id, session_id) WHERE kind IN('session_end','abandon');
CREATE UNIQUE INDEX block_fact_once ON block(project_id, session_id, fact_key) WHERE fact_key IS NOT NULL;
-- What a block says: canonical JSON, its first line, and what it is about, by which branches are compared.
CREATE TABLE block_body(
  block_id text NOT NULL,
  project_id text NOT NULL,
  principal_id text NOT NULL,
  topic text CONSTRAINT block_body_topic_length CHECK(length(topic) BETWEEN 1 AND 200),
  summary text NOT NULL,
  payload bytea NOT NULL,
  CONSTRAINT block_body_pk PRIMARY KEY(project_id, block_id),
  CONSTRAINT block_body_project FOREIGN KEY(project_id, principal_id) REFERENCES project(project_id, principal_id),
  CONSTRAINT block_body_block FOREIGN KEY(project_id, block_id) REFERENCES block(project_id, block_id));
CREATE INDEX block_body_topic ON block_body(project_id, topic) WHERE topic IS NOT NULL;
-- Edges are written before their child, which seals them. That a parent is older keeps the graph without cycles.
CREATE TABLE block_parent(
  project_id text NOT NULL,
  child_id text NOT NULL,
  child_seq bigint NOT NULL,
  ordinal bigint NOT NULL CONSTRAINT block_parent_ordinal CHECK(ordinal IN(0,1)),
  parent_id text NOT NULL,
  parent_seq bigint NOT NULL,
  role text NOT NULL CONSTRAINT block_parent_role CHECK(role IN('base','branch','integration')),
  CONSTRAINT block_parent_pk PRIMARY KEY(project_id, child_id, ordinal),
  CONSTRAINT block_parent_once UNIQUE(project_id, child_id, parent_id),
  CONSTRAINT block_parent_older CHECK(parent_seq<child_seq),
  CONSTRAINT block_parent_child FOREIGN KEY(project_id, child_id, child_seq)
    REFERENCES block(project_id, block_id, project_seq) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT block_parent_parent FOREIGN KEY(project_id, parent_id, parent_seq)
    REFERENCES block(project_id, block_id, project_seq));
CREATE INDEX block_parent_reverse ON block_parent(project_id, parent_id, child_id);

-- One entry for each canonical head that a project ever had, chained by hashes. content_* count what it makes canonical.
CREATE TABLE integration_log(
  project_id text NOT NULL,
  epoch bigint NOT NULL CONSTRAINT integration_log_epoch CHECK(epoch>=0),
  head_block_id text,
  head_sha256 bytea,
  prev_epoch bigint,
  prev_head_id text,
  prev_sha256 bytea,
  kind text NOT NULL
    CONSTRAINT integration_log_kind CHECK(kind IN('baseline','migration','import','end','import_rollback')),
  session_id text,
  run_id text,
  content_blocks bigint NOT NULL,
  content_tokens bigint NOT NULL,
  actor text NOT NULL,
  at_ns bigint NOT NULL,
  sha256 bytea NOT NULL CONSTRAINT integration_log_sha256 CHECK(octet_length(sha256)=32),
  CONSTRAINT integration_log_pk PRIMARY KEY(project_id, epoch),
  CONSTRAINT integration_log_head UNIQUE(project_id, epoch, head_block_id),
  CONSTRAINT integration_log_first CHECK((epoch=0)=(prev_epoch IS NULL)),
  CONSTRAINT integration_log_gapless CHECK(prev_epoch IS NULL OR prev_epoch=epoch-1),
  CONSTRAINT integration_log_chained CHECK((prev_epoch IS NULL)=(prev_sha256 IS NULL)),
  CONSTRAINT integration_log_prev_head CHECK(prev_epoch IS NOT NULL OR prev_head_id IS NULL),
  CONSTRAINT integration_log_head_hashed CHECK((head_block_id IS NULL)=(head_sha256 IS NULL)),
  CONSTRAINT integration_log_headless CHECK(head_block_id IS NOT NULL OR kind='import_rollback'),
  CONSTRAINT integration_log_run CHECK(kind<>'import_rollback' OR run_id IS NOT NULL),
  CONSTRAINT integration_log_session CHECK((kind='end')=(session_id IS NOT NULL)),
  CONSTRAINT integration_log_prev FOREIGN KEY(project_id, prev_epoch) REFERENCES integration_log(project_id, epoch),
  CONSTRAINT integration_log_prev_is_head FOREIGN KEY(project_id, prev_epoch, prev_head_id)
    REFERENCES integration_log(project_id, epoch, head_block_id));

-- Two branches that changed the same topic without having seen each other. Side 0 is of the branch that ended last.
CREATE TABLE conflict(
  project_id text NOT NULL,
  conflict_id text NOT NULL,
  epoch bigint NOT NULL,
  ordinal bigint NOT NULL,
  session_id text NOT NULL,
  at_ns bigint NOT NULL,
  CONSTRAINT conflict_pk PRIMARY KEY(project_id, conflict_id),
  CONSTRAINT conflict_epoch FOREIGN KEY(project_id, epoch) REFERENCES integration_log(project_id, epoch),
  CONSTRAINT conflict_session FOREIGN KEY(project_id, session_id) REFERENCES session(project_id, session_id));
CREATE UNIQUE INDEX conflict_order ON conflict(project_id, epoch, ordinal);
CREATE TABLE conflict_side(
  project_id text NOT NULL,
  conflict_id text NOT NULL,
  ordinal bigint NOT NULL CONSTRAINT conflict_side_ordinal CHECK(ordinal>=0),
  block_id text NOT NULL,
  session_id text NOT NULL,
  CONSTRAINT conflict_side_pk PRIMARY KEY(project_id, conflict_id, ordinal),
  CONSTRAINT conflict_side_once UNIQUE(project_id, conflict_id, session_id),
  CONSTRAINT conflict_side_conflict FOREIGN KEY(project_id, conflict_id) REFERENCES conflict(project_id, conflict_id),
  CONSTRAINT conflict_side_block FOREIGN KEY(project_id, block_id) REFERENCES block(project_id, block_id));
-- A block that settles a conflict. It counts where that block is canonical.
CREATE TABLE resolution(
  project_id text NOT NULL,
  conflict_id text NOT NULL,
  block_id text NOT NULL,
  CONSTRAINT resolution_pk PRIMARY KEY(project_id, conflict_id, block_id),
  CONSTRAINT resolution_conflict FOREIGN KEY(project_id, conflict_id) REFERENCES conflict(project_id, conflict_id),
  CONSTRAINT resolution_block FOREIGN KEY(project_id, block_id) REFERENCES block(project_id, block_id));

-- What was handed to which session.
CREATE TABLE receipt(
  project_id text NOT NULL,
  receipt_id text NOT NULL,
  session_id text NOT NULL,
  base_epoch bigint NOT NULL,
  tip_seq bigint NOT NULL,
  budget bigint NOT NULL,
  estimator text NOT NULL,
  blocks bigint NOT NULL,
  tokens bigint NOT NULL,
  omitted_blocks bigint NOT NULL,
  omitted_tokens bigint NOT NULL,
  content_sha256 bytea NOT NULL CONSTRAINT receipt_content CHECK(octet_length(content_sha256)=32),
  actor text NOT NULL,
  at_ns bigint NOT NULL,
  CONSTRAINT receipt_pk PRIMARY KEY(project_id, receipt_id),
  CONSTRAINT receipt_once UNIQUE(project_id, session_id, content_sha256),
  CONSTRAINT receipt_session FOREIGN KEY(project_id, session_id) REFERENCES session(project_id, session_id));
CREATE TABLE receipt_block(
  project_id text NOT NULL,
  receipt_id text NOT NULL,
  ordinal bigint NOT NULL,
  block_id text NOT NULL,
  CONSTRAINT receipt_block_pk PRIMARY KEY(project_id, receipt_id, ordinal),
  CONSTRAINT receipt_block_receipt FOREIGN KEY(project_id, receipt_id) REFERENCES receipt(project_id, receipt_id),
  CONSTRAINT receipt_block_block FOREIGN KEY(project_id, block_id) REFERENCES block(project_id, block_id));
CREATE INDEX receipt_block_of ON receipt_block(project_id, block_id);

-- Everything that happened to the project's sessions and its head, in order; what the chains of its stores anchor.
CREATE TABLE project_event(
  project_id text NOT NULL,
  event_seq bigint NOT NULL CONSTRAINT project_event_from_1 CHECK(event_seq>=1),
  kind text NOT NULL CONSTRAINT project_event_kind CHECK(kind IN(
    'session_started','session_ended','session_abandoned','integrated',
    'imported','rolled_back','migrated','purged','destroyed','fenced','released')),
  session_id text,
  epoch bigint,
  run_id text,
  actor text NOT NULL,
  at_ns bigint NOT NULL,
  CONSTRAINT project_event_pk PRIMARY KEY(project_id, event_seq),
  CONSTRAINT project_event_project FOREIGN KEY(project_id) REFERENCES project(project_id));

-- What a request was answered with, for as long as its key is kept.
CREATE TABLE idempotency(
  principal_id text NOT NULL,
  project_id text NOT NULL,
  idem_key text NOT NULL CONSTRAINT idempotency_key_length CHECK(length(idem_key) BETWEEN 1 AND 200),
  op text NOT NULL,
  digest bytea NOT NULL CONSTRAINT idempotency_digest CHECK(length(digest)=32),
  result text NOT NULL,
  created_ns bigint NOT NULL,
  expires_ns bigint NOT NULL CONSTRAINT idempotency_expires CHECK(expires_ns>created_ns),
  CONSTRAINT idempotency_pk PRIMARY KEY(project_id, principal_id, idem_key),
  CONSTRAINT idempotency_project FOREIGN KEY(project_id, principal_id)
    REFERENCES project(project_id, principal_id));
CREATE INDEX idempotency_expired ON idempotency(project_id, expires_ns);

-- Blocks that a model has yet to embed, and what was used.
CREATE TABLE embedding_debt(
  project_id text NOT NULL,
  block_id text NOT NULL,
  model_id text NOT NULL,
  state text NOT NULL DEFAULT 'pending'
    CONSTRAINT embedding_debt_state CHECK(state IN('pending','leased','done','dead')),
  attempts bigint NOT NULL DEFAULT 0,
  not_before_ns bigint NOT NULL,
  lease_until_ns bigint,
  last_error text,
  CONSTRAINT embedding_debt_pk PRIMARY KEY(project_id, block_id, model_id),
  CONSTRAINT embedding_debt_block FOREIGN KEY(project_id, block_id) REFERENCES block(project_id, block_id));
CREATE INDEX embedding_debt_due ON embedding_debt(not_before_ns) WHERE state='pending';
CREATE TABLE usage_event(
  project_id text NOT NULL,
  project_seq bigint NOT NULL,
  principal_id text NOT NULL,
  op text NOT NULL,
  blocks bigint NOT NULL,
  bytes bigint NOT NULL,
  tokens bigint NOT NULL,
  at_ns bigint NOT NULL,
  CONSTRAINT usage_event_pk PRIMARY KEY(project_id, project_seq),
  CONSTRAINT usage_event_project FOREIGN KEY(project_id, principal_id)
    REFERENCES project(project_id, principal_id));

-- Tables that refer to each other.
ALTER TABLE project ADD CONSTRAINT project_epoch_logged FOREIGN KEY(project_id, integration_epoch)
    REFERENCES integration_log(project_id, epoch) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE project ADD CONSTRAINT project_head_logged FOREIGN KEY(project_id, integration_epoch, integration_head)
    REFERENCES integration_log(project_id, epoch, head_block_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE project ADD CONSTRAINT project_head_block FOREIGN KEY(project_id, integration_head)
    REFERENCES block(project_id, block_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE session ADD CONSTRAINT session_tip FOREIGN KEY(project_id, tip_block_id)
    REFERENCES block(project_id, block_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE session ADD CONSTRAINT session_terminal FOREIGN KEY(project_id, terminal_block_id)
    REFERENCES block(project_id, block_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE session ADD CONSTRAINT session_base FOREIGN KEY(project_id, base_epoch, base_block_id)
    REFERENCES integration_log(project_id, epoch, head_block_id) DEFERRABLE INITIALLY DEFERRED;
ALTER TABLE session ADD CONSTRAINT session_epoch FOREIGN KEY(project_id, integrated_epoch)
    REFERENCES integration_log(project_id, epoch) DEFERRABLE INITIALLY DEFERRED;

-- A block continues its session's branch, or begins it at the session's base; nothing is added to what is over.
CREATE FUNCTION block_on_branch() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.kind<>'baseline' AND NOT coalesce(
    EXISTS(SELECT 1 FROM cyberos_blocks.session s WHERE s.project_id=NEW.project_id AND s.session_id=NEW.session_id
        AND s.principal_id=NEW.principal_id AND s.status='open' AND s.origin='live'
        AND (NEW.kind='session_start' AND NEW.session_seq=1 AND NEW.parent_count=1
          AND EXISTS(SELECT 1 FROM cyberos_blocks.block_parent e WHERE e.project_id=NEW.project_id AND e.child_id=NEW.block_id
            AND e.role='base' AND e.parent_id=s.base_block_id)
        OR NEW.kind<>'session_start'
          AND EXISTS(SELECT 1 FROM cyberos_blocks.block_parent e JOIN cyberos_blocks.block p ON p.project_id=e.project_id AND p.block_id=e.parent_id
            WHERE e.project_id=NEW.project_id AND e.child_id=NEW.block_id AND e.role='branch'
              AND p.session_id=NEW.session_id AND p.session_seq=NEW.session_seq-1)))
    OR EXISTS(SELECT 1 FROM cyberos_blocks.admin_run a WHERE a.project_id=NEW.project_id AND a.state='executing'
        AND a.kind IN('import','migration')), FALSE) THEN
    RAISE EXCEPTION 'block_on_branch: a block continues the branch of an open session' USING ERRCODE='23B01';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER block_on_branch BEFORE INSERT ON block FOR EACH ROW EXECUTE FUNCTION block_on_branch();
ALTER TABLE block ENABLE ALWAYS TRIGGER block_on_branch;
CREATE FUNCTION block_edges_sealed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF (SELECT count(*) FROM cyberos_blocks.block_parent p WHERE p.project_id=NEW.project_id AND p.child_id=NEW.block_id)<>NEW.parent_count THEN
    RAISE EXCEPTION 'block_edges_sealed: a block has other parents than it says' USING ERRCODE='23B01';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER block_edges_sealed AFTER INSERT ON block FOR EACH ROW EXECUTE FUNCTION block_edges_sealed();
ALTER TABLE block ENABLE ALWAYS TRIGGER block_edges_sealed;
CREATE FUNCTION block_parent_sealed() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF EXISTS(SELECT 1 FROM cyberos_blocks.block b WHERE b.project_id=NEW.project_id AND b.block_id=NEW.child_id) THEN
    RAISE EXCEPTION 'block_parent_sealed: the edges of a block are sealed by it' USING ERRCODE='23B01';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER block_parent_sealed BEFORE INSERT ON block_parent FOR EACH ROW EXECUTE FUNCTION block_parent_sealed();
ALTER TABLE block_parent ENABLE ALWAYS TRIGGER block_parent_sealed;
CREATE FUNCTION block_body_matches() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT
    EXISTS(SELECT 1 FROM cyberos_blocks.block b WHERE b.project_id=NEW.project_id AND b.block_id=NEW.block_id
        AND b.principal_id=NEW.principal_id AND b.payload_bytes=octet_length(NEW.payload)) THEN
    RAISE EXCEPTION 'block_body_matches: a body is not that of its block' USING ERRCODE='23B01';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER block_body_matches BEFORE INSERT ON block_body FOR EACH ROW EXECUTE FUNCTION block_body_matches();
ALTER TABLE block_body ENABLE ALWAYS TRIGGER block_body_matches;

-- The canonical head goes on from the one before and, at the end of a session, from the session's branch.
CREATE FUNCTION integration_log_descends() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT coalesce(
    (NEW.head_block_id IS NULL OR EXISTS(SELECT 1 FROM cyberos_blocks.block b WHERE b.project_id=NEW.project_id
        AND b.block_id=NEW.head_block_id AND b.hash=NEW.head_sha256))
    AND (NEW.prev_epoch IS NULL OR EXISTS(SELECT 1 FROM cyberos_blocks.project p JOIN cyberos_blocks.integration_log l
        ON l.project_id=p.project_id AND l.epoch=p.integration_epoch
        WHERE p.project_id=NEW.project_id AND l.epoch=NEW.prev_epoch AND l.sha256=NEW.prev_sha256))
    AND (NEW.kind<>'end' OR EXISTS(SELECT 1 FROM cyberos_blocks.block b
        JOIN cyberos_blocks.session s ON s.project_id=b.project_id AND s.session_id=b.session_id
        JOIN cyberos_blocks.project p ON p.project_id=b.project_id AND p.integration_head=NEW.prev_head_id
        WHERE b.project_id=NEW.project_id AND b.block_id=NEW.head_block_id AND b.kind='session_end'
          AND b.session_id=NEW.session_id AND s.status='open'
          AND EXISTS(SELECT 1 FROM cyberos_blocks.block_parent e WHERE e.project_id=b.project_id AND e.child_id=b.block_id
            AND e.parent_id=s.tip_block_id AND e.role='branch')
          AND (s.base_epoch=NEW.prev_epoch AND b.parent_count=1
            OR s.base_epoch<NEW.prev_epoch AND EXISTS(SELECT 1 FROM cyberos_blocks.block_parent e WHERE e.project_id=b.project_id
              AND e.child_id=b.block_id AND e.parent_id=NEW.prev_head_id AND e.role='integration'))))
    AND (NEW.kind<>'baseline' OR NEW.epoch=0 AND EXISTS(SELECT 1 FROM cyberos_blocks.block b WHERE b.project_id=NEW.project_id
        AND b.block_id=NEW.head_block_id AND b.kind='baseline'))
    AND (NEW.kind IN('end','baseline') OR EXISTS(SELECT 1 FROM cyberos_blocks.admin_run a WHERE a.project_id=NEW.project_id
        AND a.state='executing' AND a.run_id=NEW.run_id)), FALSE) THEN
    RAISE EXCEPTION 'integration_log_descends: a head goes on from the branch and from the head before' USING ERRCODE='23B01';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER integration_log_descends BEFORE INSERT ON integration_log FOR EACH ROW EXECUTE FUNCTION integration_log_descends();
ALTER TABLE integration_log ENABLE ALWAYS TRIGGER integration_log_descends;
CREATE FUNCTION project_epoch_monotonic() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT coalesce(
    NEW.project_id=OLD.project_id AND NEW.principal_id=OLD.principal_id AND NEW.created_ns=OLD.created_ns
    AND NEW.next_project_seq>=OLD.next_project_seq AND NEW.next_event_seq>=OLD.next_event_seq
    AND (NEW.integration_epoch IS NOT DISTINCT FROM OLD.integration_epoch AND NEW.integration_head IS NOT DISTINCT FROM OLD.integration_head
      OR (OLD.integration_epoch IS NULL AND coalesce(NEW.integration_epoch=0, FALSE)
          OR coalesce(NEW.integration_epoch=OLD.integration_epoch+1, FALSE))
        AND EXISTS(SELECT 1 FROM cyberos_blocks.integration_log l WHERE l.project_id=NEW.project_id
          AND l.epoch=NEW.integration_epoch AND l.head_block_id IS NOT DISTINCT FROM NEW.integration_head)
      OR NEW.integration_epoch IS NULL AND EXISTS(SELECT 1 FROM cyberos_blocks.admin_run a WHERE a.project_id=OLD.project_id
        AND a.state='executing' AND a.kind='destroy'))
    AND (OLD.availability<>'destroyed' OR NEW.availability='destroyed'), FALSE) THEN
    RAISE EXCEPTION 'project_epoch_monotonic: an integration epoch goes on by one' USING ERRCODE='23B01';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER project_epoch_monotonic BEFORE UPDATE ON project FOR EACH ROW EXECUTE FUNCTION project_epoch_monotonic();
ALTER TABLE project ENABLE ALWAYS TRIGGER project_epoch_monotonic;

-- Sessions are born open at the canonical head, go on growing, and are over once.
CREATE FUNCTION session_insert() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT coalesce(
    NEW.status='open' AND NEW.origin='live'
      AND EXISTS(SELECT 1 FROM cyberos_blocks.project p WHERE p.project_id=NEW.project_id AND p.availability='live'
        AND p.integration_state='ready' AND p.integration_epoch=NEW.base_epoch AND p.integration_head=NEW.base_block_id)
    OR EXISTS(SELECT 1 FROM cyberos_blocks.admin_run a WHERE a.project_id=NEW.project_id AND a.state='executing'
        AND a.kind IN('import','migration')), FALSE) THEN
    RAISE EXCEPTION 'session_insert: a session is born open at the canonical head' USING ERRCODE='23B01';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER session_insert BEFORE INSERT ON session FOR EACH ROW EXECUTE FUNCTION session_insert();
ALTER TABLE session ENABLE ALWAYS TRIGGER session_insert;
CREATE FUNCTION session_transition() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT coalesce(
    NEW.session_id IS NOT DISTINCT FROM OLD.session_id AND NEW.project_id IS NOT DISTINCT FROM OLD.project_id AND NEW.principal_id IS NOT DISTINCT FROM OLD.principal_id
    AND NEW.native_ref IS NOT DISTINCT FROM OLD.native_ref AND NEW.generation IS NOT DISTINCT FROM OLD.generation AND NEW.successor_of IS NOT DISTINCT FROM OLD.successor_of
    AND NEW.origin IS NOT DISTINCT FROM OLD.origin AND NEW.base_epoch IS NOT DISTINCT FROM OLD.base_epoch AND NEW.base_block_id IS NOT DISTINCT FROM OLD.base_block_id
    AND NEW.actor IS NOT DISTINCT FROM OLD.actor AND NEW.started_ns IS NOT DISTINCT FROM OLD.started_ns AND NEW.run_id IS NOT DISTINCT FROM OLD.run_id
    AND (OLD.transcript_id IS NULL OR NEW.transcript_id IS NOT DISTINCT FROM OLD.transcript_id)
    AND NEW.tip_seq>=OLD.tip_seq AND NEW.last_activity_ns>=OLD.last_activity_ns
    AND NEW.content_blocks>=OLD.content_blocks AND NEW.content_tokens>=OLD.content_tokens
    AND EXISTS(SELECT 1 FROM cyberos_blocks.block b WHERE b.project_id=NEW.project_id AND b.block_id=NEW.tip_block_id
        AND b.session_id=NEW.session_id AND b.session_seq=NEW.tip_seq)
    AND (OLD.status='open' AND NEW.status='open'
      OR OLD.status='open' AND NEW.status='ended' AND NEW.tip_block_id=NEW.terminal_block_id
        AND EXISTS(SELECT 1 FROM cyberos_blocks.integration_log l WHERE l.project_id=NEW.project_id AND l.kind='end'
          AND l.epoch=NEW.integrated_epoch AND l.session_id=NEW.session_id AND l.head_block_id=NEW.terminal_block_id)
      OR OLD.status='open' AND NEW.status='abandoned' AND NEW.tip_block_id=NEW.terminal_block_id
        AND EXISTS(SELECT 1 FROM cyberos_blocks.block b WHERE b.project_id=NEW.project_id AND b.block_id=NEW.terminal_block_id
          AND b.session_id=NEW.session_id AND b.kind='abandon')
      OR OLD.status='ended' AND NEW.status='ended' AND OLD.integrated_epoch IS NULL
        AND EXISTS(SELECT 1 FROM cyberos_blocks.admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
          AND a.kind IN('migration','import'))), FALSE) THEN
    RAISE EXCEPTION 'session_transition: this is no transition of a session' USING ERRCODE='23B01';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER session_transition BEFORE UPDATE ON session FOR EACH ROW EXECUTE FUNCTION session_transition();
ALTER TABLE session ENABLE ALWAYS TRIGGER session_transition;

-- What is never changed, and deleted only by an administrator's run.
CREATE FUNCTION block_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'block_no_update: block is immutable' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER block_no_update BEFORE UPDATE ON block FOR EACH ROW EXECUTE FUNCTION block_no_update();
ALTER TABLE block ENABLE ALWAYS TRIGGER block_no_update;
CREATE FUNCTION block_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT
    EXISTS(SELECT 1 FROM cyberos_blocks.admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy','import_rollback')) THEN
    RAISE EXCEPTION 'block_no_delete: block is immutable' USING ERRCODE='23B01';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER block_no_delete BEFORE DELETE ON block FOR EACH ROW EXECUTE FUNCTION block_no_delete();
ALTER TABLE block ENABLE ALWAYS TRIGGER block_no_delete;
CREATE FUNCTION block_body_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'block_body_no_update: block_body is immutable' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER block_body_no_update BEFORE UPDATE ON block_body FOR EACH ROW EXECUTE FUNCTION block_body_no_update();
ALTER TABLE block_body ENABLE ALWAYS TRIGGER block_body_no_update;
CREATE FUNCTION block_body_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT
    EXISTS(SELECT 1 FROM cyberos_blocks.admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('purge','destroy','import_rollback')) THEN
    RAISE EXCEPTION 'block_body_no_delete: block_body is immutable' USING ERRCODE='23B01';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER block_body_no_delete BEFORE DELETE ON block_body FOR EACH ROW EXECUTE FUNCTION block_body_no_delete();
ALTER TABLE block_body ENABLE ALWAYS TRIGGER block_body_no_delete;
CREATE FUNCTION block_parent_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'block_parent_no_update: block_parent is immutable' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER block_parent_no_update BEFORE UPDATE ON block_parent FOR EACH ROW EXECUTE FUNCTION block_parent_no_update();
ALTER TABLE block_parent ENABLE ALWAYS TRIGGER block_parent_no_update;
CREATE FUNCTION block_parent_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT
    EXISTS(SELECT 1 FROM cyberos_blocks.admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy','import_rollback')) THEN
    RAISE EXCEPTION 'block_parent_no_delete: block_parent is immutable' USING ERRCODE='23B01';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER block_parent_no_delete BEFORE DELETE ON block_parent FOR EACH ROW EXECUTE FUNCTION block_parent_no_delete();
ALTER TABLE block_parent ENABLE ALWAYS TRIGGER block_parent_no_delete;
CREATE FUNCTION session_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT
    EXISTS(SELECT 1 FROM cyberos_blocks.admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy','import_rollback')) THEN
    RAISE EXCEPTION 'session_no_delete: session is kept' USING ERRCODE='23B01';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER session_no_delete BEFORE DELETE ON session FOR EACH ROW EXECUTE FUNCTION session_no_delete();
ALTER TABLE session ENABLE ALWAYS TRIGGER session_no_delete;
CREATE FUNCTION project_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'project_no_delete: project is kept' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER project_no_delete BEFORE DELETE ON project FOR EACH ROW EXECUTE FUNCTION project_no_delete();
ALTER TABLE project ENABLE ALWAYS TRIGGER project_no_delete;

-- What is only ever added to.
CREATE FUNCTION integration_log_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'integration_log_no_update: integration_log is append-only' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER integration_log_no_update BEFORE UPDATE ON integration_log FOR EACH ROW EXECUTE FUNCTION integration_log_no_update();
ALTER TABLE integration_log ENABLE ALWAYS TRIGGER integration_log_no_update;
CREATE FUNCTION integration_log_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT
    EXISTS(SELECT 1 FROM cyberos_blocks.admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy')) THEN
    RAISE EXCEPTION 'integration_log_no_delete: integration_log is append-only' USING ERRCODE='23B01';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER integration_log_no_delete BEFORE DELETE ON integration_log FOR EACH ROW EXECUTE FUNCTION integration_log_no_delete();
ALTER TABLE integration_log ENABLE ALWAYS TRIGGER integration_log_no_delete;
CREATE FUNCTION conflict_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'conflict_no_update: conflict is append-only' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER conflict_no_update BEFORE UPDATE ON conflict FOR EACH ROW EXECUTE FUNCTION conflict_no_update();
ALTER TABLE conflict ENABLE ALWAYS TRIGGER conflict_no_update;
CREATE FUNCTION conflict_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT
    EXISTS(SELECT 1 FROM cyberos_blocks.admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy')) THEN
    RAISE EXCEPTION 'conflict_no_delete: conflict is append-only' USING ERRCODE='23B01';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER conflict_no_delete BEFORE DELETE ON conflict FOR EACH ROW EXECUTE FUNCTION conflict_no_delete();
ALTER TABLE conflict ENABLE ALWAYS TRIGGER conflict_no_delete;
CREATE FUNCTION conflict_side_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'conflict_side_no_update: conflict_side is append-only' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER conflict_side_no_update BEFORE UPDATE ON conflict_side FOR EACH ROW EXECUTE FUNCTION conflict_side_no_update();
ALTER TABLE conflict_side ENABLE ALWAYS TRIGGER conflict_side_no_update;
CREATE FUNCTION conflict_side_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT
    EXISTS(SELECT 1 FROM cyberos_blocks.admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy')) THEN
    RAISE EXCEPTION 'conflict_side_no_delete: conflict_side is append-only' USING ERRCODE='23B01';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER conflict_side_no_delete BEFORE DELETE ON conflict_side FOR EACH ROW EXECUTE FUNCTION conflict_side_no_delete();
ALTER TABLE conflict_side ENABLE ALWAYS TRIGGER conflict_side_no_delete;
CREATE FUNCTION resolution_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'resolution_no_update: resolution is append-only' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER resolution_no_update BEFORE UPDATE ON resolution FOR EACH ROW EXECUTE FUNCTION resolution_no_update();
ALTER TABLE resolution ENABLE ALWAYS TRIGGER resolution_no_update;
CREATE FUNCTION resolution_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT
    EXISTS(SELECT 1 FROM cyberos_blocks.admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy','import_rollback')) THEN
    RAISE EXCEPTION 'resolution_no_delete: resolution is append-only' USING ERRCODE='23B01';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER resolution_no_delete BEFORE DELETE ON resolution FOR EACH ROW EXECUTE FUNCTION resolution_no_delete();
ALTER TABLE resolution ENABLE ALWAYS TRIGGER resolution_no_delete;
CREATE FUNCTION receipt_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'receipt_no_update: receipt is append-only' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER receipt_no_update BEFORE UPDATE ON receipt FOR EACH ROW EXECUTE FUNCTION receipt_no_update();
ALTER TABLE receipt ENABLE ALWAYS TRIGGER receipt_no_update;
CREATE FUNCTION receipt_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT
    EXISTS(SELECT 1 FROM cyberos_blocks.admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy','import_rollback')) THEN
    RAISE EXCEPTION 'receipt_no_delete: receipt is append-only' USING ERRCODE='23B01';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER receipt_no_delete BEFORE DELETE ON receipt FOR EACH ROW EXECUTE FUNCTION receipt_no_delete();
ALTER TABLE receipt ENABLE ALWAYS TRIGGER receipt_no_delete;
CREATE FUNCTION receipt_block_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'receipt_block_no_update: receipt_block is append-only' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER receipt_block_no_update BEFORE UPDATE ON receipt_block FOR EACH ROW EXECUTE FUNCTION receipt_block_no_update();
ALTER TABLE receipt_block ENABLE ALWAYS TRIGGER receipt_block_no_update;
CREATE FUNCTION receipt_block_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NOT
    EXISTS(SELECT 1 FROM cyberos_blocks.admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy','import_rollback')) THEN
    RAISE EXCEPTION 'receipt_block_no_delete: receipt_block is append-only' USING ERRCODE='23B01';
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER receipt_block_no_delete BEFORE DELETE ON receipt_block FOR EACH ROW EXECUTE FUNCTION receipt_block_no_delete();
ALTER TABLE receipt_block ENABLE ALWAYS TRIGGER receipt_block_no_delete;
CREATE FUNCTION project_event_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'project_event_no_update: project_event is append-only' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER project_event_no_update BEFORE UPDATE ON project_event FOR EACH ROW EXECUTE FUNCTION project_event_no_update();
ALTER TABLE project_event ENABLE ALWAYS TRIGGER project_event_no_update;
CREATE FUNCTION project_event_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'project_event_no_delete: project_event is append-only' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER project_event_no_delete BEFORE DELETE ON project_event FOR EACH ROW EXECUTE FUNCTION project_event_no_delete();
ALTER TABLE project_event ENABLE ALWAYS TRIGGER project_event_no_delete;
CREATE FUNCTION usage_event_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'usage_event_no_update: usage_event is append-only' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER usage_event_no_update BEFORE UPDATE ON usage_event FOR EACH ROW EXECUTE FUNCTION usage_event_no_update();
ALTER TABLE usage_event ENABLE ALWAYS TRIGGER usage_event_no_update;
CREATE FUNCTION usage_event_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'usage_event_no_delete: usage_event is append-only' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER usage_event_no_delete BEFORE DELETE ON usage_event FOR EACH ROW EXECUTE FUNCTION usage_event_no_delete();
ALTER TABLE usage_event ENABLE ALWAYS TRIGGER usage_event_no_delete;
CREATE FUNCTION kill_switch_log_no_update() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'kill_switch_log_no_update: kill_switch_log is append-only' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER kill_switch_log_no_update BEFORE UPDATE ON kill_switch_log FOR EACH ROW EXECUTE FUNCTION kill_switch_log_no_update();
ALTER TABLE kill_switch_log ENABLE ALWAYS TRIGGER kill_switch_log_no_update;
CREATE FUNCTION kill_switch_log_no_delete() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'kill_switch_log_no_delete: kill_switch_log is append-only' USING ERRCODE='23B01';
END $$;
CREATE TRIGGER kill_switch_log_no_delete BEFORE DELETE ON kill_switch_log FOR EACH ROW EXECUTE FUNCTION kill_switch_log_no_delete();
ALTER TABLE kill_switch_log ENABLE ALWAYS TRIGGER kill_switch_log_no_delete;

-- TRUNCATE asks no trigger of a row.
CREATE FUNCTION no_truncate() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  RAISE EXCEPTION 'no_truncate: % is kept', TG_TABLE_NAME USING ERRCODE='23B01';
END $$;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON principal FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE principal ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON credential FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE credential ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON kill_switch FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE kill_switch ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON kill_switch_log FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE kill_switch_log ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON project FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE project ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON project_store FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE project_store ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON admin_run FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE admin_run ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON session FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE session ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON block FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE block ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON block_body FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE block_body ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON block_parent FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE block_parent ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON integration_log FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE integration_log ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON conflict FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE conflict ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON conflict_side FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE conflict_side ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON resolution FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE resolution ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON receipt FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE receipt ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON receipt_block FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE receipt_block ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON project_event FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE project_event ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON idempotency FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE idempotency ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON embedding_debt FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE embedding_debt ENABLE ALWAYS TRIGGER no_truncate;
CREATE TRIGGER no_truncate BEFORE TRUNCATE ON usage_event FOR EACH STATEMENT EXECUTE FUNCTION no_truncate();
ALTER TABLE usage_event ENABLE ALWAYS TRIGGER no_truncate;
