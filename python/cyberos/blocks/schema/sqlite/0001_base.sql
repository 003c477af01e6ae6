-- Block memory. What must never happen is refused here and not only by the program: see the triggers.
-- Times are nanoseconds since 1970, UTC. Ids are made by the program; what a client chooses is unique per principal only.

-- Who owns what. All credentials of one person or service stand for one principal.
CREATE TABLE principal(
  principal_id TEXT NOT NULL CONSTRAINT principal_pk PRIMARY KEY,
  display TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'active' CONSTRAINT principal_state CHECK(state IN('active','disabled')),
  created_ns INTEGER NOT NULL) STRICT;
CREATE TABLE credential(
  credential_id TEXT NOT NULL CONSTRAINT credential_pk PRIMARY KEY,
  principal_id TEXT NOT NULL CONSTRAINT credential_principal REFERENCES principal(principal_id),
  display TEXT NOT NULL,
  token_sha256 BLOB NOT NULL CONSTRAINT credential_token UNIQUE
    CONSTRAINT credential_token_length CHECK(length(token_sha256)=32),
  scopes TEXT NOT NULL,
  created_ns INTEGER NOT NULL,
  expires_ns INTEGER NOT NULL CONSTRAINT credential_expires CHECK(expires_ns>created_ns),
  revoked_ns INTEGER) STRICT;
CREATE INDEX credential_of ON credential(principal_id);

-- Whether anything may be changed at all.
CREATE TABLE kill_switch(
  scope TEXT NOT NULL CONSTRAINT kill_switch_pk PRIMARY KEY CONSTRAINT kill_switch_scope CHECK(scope='mutations'),
  enabled INTEGER NOT NULL CONSTRAINT kill_switch_enabled CHECK(enabled IN(0,1)),
  actor TEXT NOT NULL, reason TEXT NOT NULL, at_ns INTEGER NOT NULL) STRICT;
CREATE TABLE kill_switch_log(
  seq INTEGER NOT NULL CONSTRAINT kill_switch_log_pk PRIMARY KEY,
  scope TEXT NOT NULL, enabled INTEGER NOT NULL, actor TEXT NOT NULL, reason TEXT NOT NULL, at_ns INTEGER NOT NULL) STRICT;

-- A project belongs to one principal. Its row is the lock of all that is changed in it, and points at its canonical head.
CREATE TABLE project(
  project_id TEXT NOT NULL CONSTRAINT project_pk PRIMARY KEY,
  principal_id TEXT NOT NULL CONSTRAINT project_principal REFERENCES principal(principal_id),
  name TEXT NOT NULL CONSTRAINT project_name_length CHECK(length(name) BETWEEN 1 AND 100),
  availability TEXT NOT NULL DEFAULT 'live'
    CONSTRAINT project_availability CHECK(availability IN('live','importing','maintenance','purging','destroyed')),
  contract_version INTEGER NOT NULL DEFAULT 11,
  integration_state TEXT NOT NULL DEFAULT 'uninitialized'
    CONSTRAINT project_integration_state CHECK(integration_state IN('uninitialized','ready','fenced')),
  integration_epoch INTEGER,
  integration_head TEXT,
  next_project_seq INTEGER NOT NULL DEFAULT 0,
  next_event_seq INTEGER NOT NULL DEFAULT 1,
  block_count INTEGER NOT NULL DEFAULT 0,
  payload_bytes INTEGER NOT NULL DEFAULT 0,
  created_ns INTEGER NOT NULL,
  CONSTRAINT project_owner UNIQUE(project_id, principal_id),
  CONSTRAINT project_name UNIQUE(principal_id, name),
  CONSTRAINT project_head_has_epoch CHECK(integration_head IS NULL OR integration_epoch IS NOT NULL),
  CONSTRAINT project_ready_has_head CHECK(integration_state<>'ready' OR integration_head IS NOT NULL),
  CONSTRAINT project_uninitialized_has_none CHECK(integration_state<>'uninitialized' OR integration_head IS NULL),
  CONSTRAINT project_epoch_logged FOREIGN KEY(project_id, integration_epoch)
    REFERENCES integration_log(project_id, epoch) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT project_head_logged FOREIGN KEY(project_id, integration_epoch, integration_head)
    REFERENCES integration_log(project_id, epoch, head_block_id) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT project_head_block FOREIGN KEY(project_id, integration_head)
    REFERENCES block(project_id, block_id) DEFERRABLE INITIALLY DEFERRED) STRICT;
-- The stores whose chains anchor a project; the first one is that from which it was enrolled.
CREATE TABLE project_store(
  project_id TEXT NOT NULL,
  store_id TEXT NOT NULL,
  principal_id TEXT NOT NULL,
  bound_ns INTEGER NOT NULL,
  CONSTRAINT project_store_pk PRIMARY KEY(project_id, store_id),
  CONSTRAINT project_store_project FOREIGN KEY(project_id, principal_id)
    REFERENCES project(project_id, principal_id)) STRICT;
CREATE INDEX project_store_of ON project_store(store_id, principal_id);

-- What an administrator does to a project: while a run executes, some of what is forbidden below is allowed.
CREATE TABLE admin_run(
  run_id TEXT NOT NULL,
  project_id TEXT NOT NULL CONSTRAINT admin_run_project REFERENCES project(project_id),
  kind TEXT NOT NULL CONSTRAINT admin_run_kind CHECK(kind IN('migration','import','import_rollback','purge','destroy')),
  state TEXT NOT NULL CONSTRAINT admin_run_state CHECK(state IN('open','executing','completed','aborted','rolled_back')),
  actor TEXT NOT NULL,
  started_ns INTEGER NOT NULL,
  finished_ns INTEGER,
  declared_total INTEGER,
  source_sha256 BLOB, before_sha256 BLOB, after_sha256 BLOB,
  report TEXT,
  CONSTRAINT admin_run_pk PRIMARY KEY(project_id, run_id)) STRICT;
CREATE UNIQUE INDEX admin_run_one ON admin_run(project_id) WHERE state IN('open','executing');

-- A session is one branch. Whether it is dormant is not stored: that follows from last_activity_ns.
CREATE TABLE session(
  session_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  principal_id TEXT NOT NULL,
  native_ref TEXT NOT NULL CONSTRAINT session_native_ref CHECK(native_ref LIKE '_%:_%'),
  generation INTEGER NOT NULL CONSTRAINT session_generation_from_1 CHECK(generation>=1),
  successor_of TEXT,
  transcript_id TEXT,
  origin TEXT NOT NULL CONSTRAINT session_origin CHECK(origin IN('live','import','legacy')),
  status TEXT NOT NULL CONSTRAINT session_status CHECK(status IN('open','ended','abandoned','reconciled')),
  base_epoch INTEGER,
  base_block_id TEXT,
  tip_block_id TEXT NOT NULL,
  tip_seq INTEGER NOT NULL,
  content_blocks INTEGER NOT NULL DEFAULT 0,
  content_tokens INTEGER NOT NULL DEFAULT 0,
  actor TEXT NOT NULL,
  started_ns INTEGER NOT NULL,
  last_activity_ns INTEGER NOT NULL,
  terminal_ns INTEGER,
  terminal_block_id TEXT,
  terminal_actor TEXT,
  integrated_epoch INTEGER,
  run_id TEXT,
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
  CONSTRAINT session_reconciled_is_legacy CHECK(status<>'reconciled' OR origin='legacy'),
  CONSTRAINT session_tip FOREIGN KEY(project_id, tip_block_id)
    REFERENCES block(project_id, block_id) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT session_terminal FOREIGN KEY(project_id, terminal_block_id)
    REFERENCES block(project_id, block_id) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT session_base FOREIGN KEY(project_id, base_epoch, base_block_id)
    REFERENCES integration_log(project_id, epoch, head_block_id) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT session_epoch FOREIGN KEY(project_id, integrated_epoch)
    REFERENCES integration_log(project_id, epoch) DEFERRABLE INITIALLY DEFERRED) STRICT;
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
  block_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  principal_id TEXT NOT NULL,
  session_id TEXT,
  session_seq INTEGER,
  project_seq INTEGER NOT NULL,
  kind TEXT NOT NULL CONSTRAINT block_kind CHECK(kind IN('baseline','session_start','note','session_end','abandon')),
  parent_count INTEGER NOT NULL CONSTRAINT block_parents CHECK(parent_count BETWEEN 0 AND 2),
  payload_sha256 BLOB NOT NULL CONSTRAINT block_payload_sha256 CHECK(length(payload_sha256)=32),
  payload_bytes INTEGER NOT NULL CONSTRAINT block_payload_bytes CHECK(payload_bytes>=0),
  token_est INTEGER NOT NULL CONSTRAINT block_token_est CHECK(token_est>=0),
  fact_key TEXT,
  actor TEXT NOT NULL,
  occurred_ns INTEGER NOT NULL,
  created_ns INTEGER NOT NULL,
  hash BLOB NOT NULL CONSTRAINT block_hash CHECK(length(hash)=32),
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
  CONSTRAINT block_two_parents CHECK(parent_count<2 OR kind='session_end')) STRICT;
CREATE UNIQUE INDEX block_one_baseline ON block(project_id) WHERE kind='baseline';
CREATE UNIQUE INDEX block_one_start ON block(project_id, session_id) WHERE kind='session_start';
CREATE UNIQUE INDEX block_one_terminal ON block(project_id, session_id) WHERE kind IN('session_end','abandon');
CREATE UNIQUE INDEX block_fact_once ON block(project_id, session_id, fact_key) WHERE fact_key IS NOT NULL;
-- What a block says: canonical JSON, its first line, and what it is about, by which branches are compared.
CREATE TABLE block_body(
  block_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  principal_id TEXT NOT NULL,
  topic TEXT CONSTRAINT block_body_topic_length CHECK(length(topic) BETWEEN 1 AND 200),
  summary TEXT NOT NULL,
  payload BLOB NOT NULL,
  CONSTRAINT block_body_pk PRIMARY KEY(project_id, block_id),
  CONSTRAINT block_body_project FOREIGN KEY(project_id, principal_id) REFERENCES project(project_id, principal_id),
  CONSTRAINT block_body_block FOREIGN KEY(project_id, block_id) REFERENCES block(project_id, block_id)) STRICT;
CREATE INDEX block_body_topic ON block_body(project_id, topic) WHERE topic IS NOT NULL;
-- Edges are written before their child, which seals them. That a parent is older keeps the graph without cycles.
CREATE TABLE block_parent(
  project_id TEXT NOT NULL,
  child_id TEXT NOT NULL,
  child_seq INTEGER NOT NULL,
  ordinal INTEGER NOT NULL CONSTRAINT block_parent_ordinal CHECK(ordinal IN(0,1)),
  parent_id TEXT NOT NULL,
  parent_seq INTEGER NOT NULL,
  role TEXT NOT NULL CONSTRAINT block_parent_role CHECK(role IN('base','branch','integration')),
  CONSTRAINT block_parent_pk PRIMARY KEY(project_id, child_id, ordinal),
  CONSTRAINT block_parent_once UNIQUE(project_id, child_id, parent_id),
  CONSTRAINT block_parent_older CHECK(parent_seq<child_seq),
  CONSTRAINT block_parent_child FOREIGN KEY(project_id, child_id, child_seq)
    REFERENCES block(project_id, block_id, project_seq) DEFERRABLE INITIALLY DEFERRED,
  CONSTRAINT block_parent_parent FOREIGN KEY(project_id, parent_id, parent_seq)
    REFERENCES block(project_id, block_id, project_seq)) STRICT;
CREATE INDEX block_parent_reverse ON block_parent(project_id, parent_id, child_id);

-- One entry for each canonical head that a project ever had, chained by hashes. content_* count what it makes canonical.
CREATE TABLE integration_log(
  project_id TEXT NOT NULL,
  epoch INTEGER NOT NULL CONSTRAINT integration_log_epoch CHECK(epoch>=0),
  head_block_id TEXT,
  head_sha256 BLOB,
  prev_epoch INTEGER,
  prev_head_id TEXT,
  prev_sha256 BLOB,
  kind TEXT NOT NULL
    CONSTRAINT integration_log_kind CHECK(kind IN('baseline','migration','import','end','import_rollback')),
  session_id TEXT,
  run_id TEXT,
  content_blocks INTEGER NOT NULL,
  content_tokens INTEGER NOT NULL,
  actor TEXT NOT NULL,
  at_ns INTEGER NOT NULL,
  sha256 BLOB NOT NULL CONSTRAINT integration_log_sha256 CHECK(length(sha256)=32),
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
    REFERENCES integration_log(project_id, epoch, head_block_id)) STRICT;

-- Two branches that changed the same topic without having seen each other. Side 0 is of the branch that ended last.
CREATE TABLE conflict(
  project_id TEXT NOT NULL,
  conflict_id TEXT NOT NULL,
  epoch INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  session_id TEXT NOT NULL,
  at_ns INTEGER NOT NULL,
  CONSTRAINT conflict_pk PRIMARY KEY(project_id, conflict_id),
  CONSTRAINT conflict_epoch FOREIGN KEY(project_id, epoch) REFERENCES integration_log(project_id, epoch),
  CONSTRAINT conflict_session FOREIGN KEY(project_id, session_id) REFERENCES session(project_id, session_id)) STRICT;
CREATE UNIQUE INDEX conflict_order ON conflict(project_id, epoch, ordinal);
CREATE TABLE conflict_side(
  project_id TEXT NOT NULL,
  conflict_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL CONSTRAINT conflict_side_ordinal CHECK(ordinal>=0),
  block_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  CONSTRAINT conflict_side_pk PRIMARY KEY(project_id, conflict_id, ordinal),
  CONSTRAINT conflict_side_once UNIQUE(project_id, conflict_id, session_id),
  CONSTRAINT conflict_side_conflict FOREIGN KEY(project_id, conflict_id) REFERENCES conflict(project_id, conflict_id),
  CONSTRAINT conflict_side_block FOREIGN KEY(project_id, block_id) REFERENCES block(project_id, block_id)) STRICT;
-- A block that settles a conflict. It counts where that block is canonical.
CREATE TABLE resolution(
  project_id TEXT NOT NULL,
  conflict_id TEXT NOT NULL,
  block_id TEXT NOT NULL,
  CONSTRAINT resolution_pk PRIMARY KEY(project_id, conflict_id, block_id),
  CONSTRAINT resolution_conflict FOREIGN KEY(project_id, conflict_id) REFERENCES conflict(project_id, conflict_id),
  CONSTRAINT resolution_block FOREIGN KEY(project_id, block_id) REFERENCES block(project_id, block_id)) STRICT;

-- What was handed to which session.
CREATE TABLE receipt(
  project_id TEXT NOT NULL,
  receipt_id TEXT NOT NULL,
  session_id TEXT NOT NULL,
  base_epoch INTEGER NOT NULL,
  tip_seq INTEGER NOT NULL,
  budget INTEGER NOT NULL,
  estimator TEXT NOT NULL,
  blocks INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  omitted_blocks INTEGER NOT NULL,
  omitted_tokens INTEGER NOT NULL,
  content_sha256 BLOB NOT NULL CONSTRAINT receipt_content CHECK(length(content_sha256)=32),
  actor TEXT NOT NULL,
  at_ns INTEGER NOT NULL,
  CONSTRAINT receipt_pk PRIMARY KEY(project_id, receipt_id),
  CONSTRAINT receipt_once UNIQUE(project_id, session_id, content_sha256),
  CONSTRAINT receipt_session FOREIGN KEY(project_id, session_id) REFERENCES session(project_id, session_id)) STRICT;
CREATE TABLE receipt_block(
  project_id TEXT NOT NULL,
  receipt_id TEXT NOT NULL,
  ordinal INTEGER NOT NULL,
  block_id TEXT NOT NULL,
  CONSTRAINT receipt_block_pk PRIMARY KEY(project_id, receipt_id, ordinal),
  CONSTRAINT receipt_block_receipt FOREIGN KEY(project_id, receipt_id) REFERENCES receipt(project_id, receipt_id),
  CONSTRAINT receipt_block_block FOREIGN KEY(project_id, block_id) REFERENCES block(project_id, block_id)) STRICT;
CREATE INDEX receipt_block_of ON receipt_block(project_id, block_id);

-- Everything that happened to the project's sessions and its head, in order; what the chains of its stores anchor.
CREATE TABLE project_event(
  project_id TEXT NOT NULL,
  event_seq INTEGER NOT NULL CONSTRAINT project_event_from_1 CHECK(event_seq>=1),
  kind TEXT NOT NULL CONSTRAINT project_event_kind CHECK(kind IN(
    'session_started','session_ended','session_abandoned','integrated',
    'imported','rolled_back','migrated','purged','destroyed','fenced','released')),
  session_id TEXT,
  epoch INTEGER,
  run_id TEXT,
  actor TEXT NOT NULL,
  at_ns INTEGER NOT NULL,
  CONSTRAINT project_event_pk PRIMARY KEY(project_id, event_seq),
  CONSTRAINT project_event_project FOREIGN KEY(project_id) REFERENCES project(project_id)) STRICT;

-- What a request was answered with, for as long as its key is kept.
CREATE TABLE idempotency(
  principal_id TEXT NOT NULL,
  project_id TEXT NOT NULL,
  idem_key TEXT NOT NULL CONSTRAINT idempotency_key_length CHECK(length(idem_key) BETWEEN 1 AND 200),
  op TEXT NOT NULL,
  digest BLOB NOT NULL CONSTRAINT idempotency_digest CHECK(length(digest)=32),
  result TEXT NOT NULL,
  created_ns INTEGER NOT NULL,
  expires_ns INTEGER NOT NULL CONSTRAINT idempotency_expires CHECK(expires_ns>created_ns),
  CONSTRAINT idempotency_pk PRIMARY KEY(project_id, principal_id, idem_key),
  CONSTRAINT idempotency_project FOREIGN KEY(project_id, principal_id)
    REFERENCES project(project_id, principal_id)) STRICT;
CREATE INDEX idempotency_expired ON idempotency(project_id, expires_ns);

-- Blocks that a model has yet to embed, and what was used.
CREATE TABLE embedding_debt(
  project_id TEXT NOT NULL,
  block_id TEXT NOT NULL,
  model_id TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'pending'
    CONSTRAINT embedding_debt_state CHECK(state IN('pending','leased','done','dead')),
  attempts INTEGER NOT NULL DEFAULT 0,
  not_before_ns INTEGER NOT NULL,
  lease_until_ns INTEGER,
  last_error TEXT,
  CONSTRAINT embedding_debt_pk PRIMARY KEY(project_id, block_id, model_id),
  CONSTRAINT embedding_debt_block FOREIGN KEY(project_id, block_id) REFERENCES block(project_id, block_id)) STRICT;
CREATE INDEX embedding_debt_due ON embedding_debt(not_before_ns) WHERE state='pending';
CREATE TABLE usage_event(
  project_id TEXT NOT NULL,
  project_seq INTEGER NOT NULL,
  principal_id TEXT NOT NULL,
  op TEXT NOT NULL,
  blocks INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  at_ns INTEGER NOT NULL,
  CONSTRAINT usage_event_pk PRIMARY KEY(project_id, project_seq),
  CONSTRAINT usage_event_project FOREIGN KEY(project_id, principal_id)
    REFERENCES project(project_id, principal_id)) STRICT;

-- A block continues its session's branch, or begins it at the session's base; nothing is added to what is over.
CREATE TRIGGER block_on_branch BEFORE INSERT ON block WHEN NEW.kind<>'baseline' AND NOT coalesce(
    EXISTS(SELECT 1 FROM session s WHERE s.project_id=NEW.project_id AND s.session_id=NEW.session_id
        AND s.principal_id=NEW.principal_id AND s.status='open' AND s.origin='live'
        AND (NEW.kind='session_start' AND NEW.session_seq=1 AND NEW.parent_count=1
          AND EXISTS(SELECT 1 FROM block_parent e WHERE e.project_id=NEW.project_id AND e.child_id=NEW.block_id
            AND e.role='base' AND e.parent_id=s.base_block_id)
        OR NEW.kind<>'session_start'
          AND EXISTS(SELECT 1 FROM block_parent e JOIN block p ON p.project_id=e.project_id AND p.block_id=e.parent_id
            WHERE e.project_id=NEW.project_id AND e.child_id=NEW.block_id AND e.role='branch'
              AND p.session_id=NEW.session_id AND p.session_seq=NEW.session_seq-1)))
    OR EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=NEW.project_id AND a.state='executing'
        AND a.kind IN('import','migration')), FALSE)
  BEGIN SELECT RAISE(ABORT, 'block_on_branch: a block continues the branch of an open session'); END;
CREATE TRIGGER block_edges_sealed AFTER INSERT ON block WHEN
    (SELECT count(*) FROM block_parent p WHERE p.project_id=NEW.project_id AND p.child_id=NEW.block_id)<>NEW.parent_count
  BEGIN SELECT RAISE(ABORT, 'block_edges_sealed: a block has other parents than it says'); END;
CREATE TRIGGER block_parent_sealed BEFORE INSERT ON block_parent WHEN
    EXISTS(SELECT 1 FROM block b WHERE b.project_id=NEW.project_id AND b.block_id=NEW.child_id)
  BEGIN SELECT RAISE(ABORT, 'block_parent_sealed: the edges of a block are sealed by it'); END;
CREATE TRIGGER block_body_matches BEFORE INSERT ON block_body WHEN NOT
    EXISTS(SELECT 1 FROM block b WHERE b.project_id=NEW.project_id AND b.block_id=NEW.block_id
        AND b.principal_id=NEW.principal_id AND b.payload_bytes=length(NEW.payload))
  BEGIN SELECT RAISE(ABORT, 'block_body_matches: a body is not that of its block'); END;

-- The canonical head goes on from the one before and, at the end of a session, from the session's branch.
CREATE TRIGGER integration_log_descends BEFORE INSERT ON integration_log WHEN NOT coalesce(
    (NEW.head_block_id IS NULL OR EXISTS(SELECT 1 FROM block b WHERE b.project_id=NEW.project_id
        AND b.block_id=NEW.head_block_id AND b.hash=NEW.head_sha256))
    AND (NEW.prev_epoch IS NULL OR EXISTS(SELECT 1 FROM project p JOIN integration_log l
        ON l.project_id=p.project_id AND l.epoch=p.integration_epoch
        WHERE p.project_id=NEW.project_id AND l.epoch=NEW.prev_epoch AND l.sha256=NEW.prev_sha256))
    AND (NEW.kind<>'end' OR EXISTS(SELECT 1 FROM block b
        JOIN session s ON s.project_id=b.project_id AND s.session_id=b.session_id
        JOIN project p ON p.project_id=b.project_id AND p.integration_head=NEW.prev_head_id
        WHERE b.project_id=NEW.project_id AND b.block_id=NEW.head_block_id AND b.kind='session_end'
          AND b.session_id=NEW.session_id AND s.status='open'
          AND EXISTS(SELECT 1 FROM block_parent e WHERE e.project_id=b.project_id AND e.child_id=b.block_id
            AND e.parent_id=s.tip_block_id AND e.role='branch')
          AND (s.base_epoch=NEW.prev_epoch AND b.parent_count=1
            OR s.base_epoch<NEW.prev_epoch AND EXISTS(SELECT 1 FROM block_parent e WHERE e.project_id=b.project_id
              AND e.child_id=b.block_id AND e.parent_id=NEW.prev_head_id AND e.role='integration'))))
    AND (NEW.kind<>'baseline' OR NEW.epoch=0 AND EXISTS(SELECT 1 FROM block b WHERE b.project_id=NEW.project_id
        AND b.block_id=NEW.head_block_id AND b.kind='baseline'))
    AND (NEW.kind IN('end','baseline') OR EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=NEW.project_id
        AND a.state='executing' AND a.run_id=NEW.run_id)), FALSE)
  BEGIN SELECT RAISE(ABORT, 'integration_log_descends: a head goes on from the branch and from the head before'); END;
CREATE TRIGGER project_epoch_monotonic BEFORE UPDATE ON project WHEN NOT coalesce(
    NEW.project_id=OLD.project_id AND NEW.principal_id=OLD.principal_id AND NEW.created_ns=OLD.created_ns
    AND NEW.next_project_seq>=OLD.next_project_seq AND NEW.next_event_seq>=OLD.next_event_seq
    AND (NEW.integration_epoch IS OLD.integration_epoch AND NEW.integration_head IS OLD.integration_head
      OR (OLD.integration_epoch IS NULL AND coalesce(NEW.integration_epoch=0, FALSE)
          OR coalesce(NEW.integration_epoch=OLD.integration_epoch+1, FALSE))
        AND EXISTS(SELECT 1 FROM integration_log l WHERE l.project_id=NEW.project_id
          AND l.epoch=NEW.integration_epoch AND l.head_block_id IS NEW.integration_head)
      OR NEW.integration_epoch IS NULL AND EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=OLD.project_id
        AND a.state='executing' AND a.kind='destroy'))
    AND (OLD.availability<>'destroyed' OR NEW.availability='destroyed'), FALSE)
  BEGIN SELECT RAISE(ABORT, 'project_epoch_monotonic: an integration epoch goes on by one'); END;

-- Sessions are born open at the canonical head, go on growing, and are over once.
CREATE TRIGGER session_insert BEFORE INSERT ON session WHEN NOT coalesce(
    NEW.status='open' AND NEW.origin='live'
      AND EXISTS(SELECT 1 FROM project p WHERE p.project_id=NEW.project_id AND p.availability='live'
        AND p.integration_state='ready' AND p.integration_epoch=NEW.base_epoch AND p.integration_head=NEW.base_block_id)
    OR EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=NEW.project_id AND a.state='executing'
        AND a.kind IN('import','migration')), FALSE)
  BEGIN SELECT RAISE(ABORT, 'session_insert: a session is born open at the canonical head'); END;
CREATE TRIGGER session_transition BEFORE UPDATE ON session WHEN NOT coalesce(
    NEW.session_id IS OLD.session_id AND NEW.project_id IS OLD.project_id AND NEW.principal_id IS OLD.principal_id
    AND NEW.native_ref IS OLD.native_ref AND NEW.generation IS OLD.generation AND NEW.successor_of IS OLD.successor_of
    AND NEW.origin IS OLD.origin AND NEW.base_epoch IS OLD.base_epoch AND NEW.base_block_id IS OLD.base_block_id
    AND NEW.actor IS OLD.actor AND NEW.started_ns IS OLD.started_ns AND NEW.run_id IS OLD.run_id
    AND (OLD.transcript_id IS NULL OR NEW.transcript_id IS OLD.transcript_id)
    AND NEW.tip_seq>=OLD.tip_seq AND NEW.last_activity_ns>=OLD.last_activity_ns
    AND NEW.content_blocks>=OLD.content_blocks AND NEW.content_tokens>=OLD.content_tokens
    AND EXISTS(SELECT 1 FROM block b WHERE b.project_id=NEW.project_id AND b.block_id=NEW.tip_block_id
        AND b.session_id=NEW.session_id AND b.session_seq=NEW.tip_seq)
    AND (OLD.status='open' AND NEW.status='open'
      OR OLD.status='open' AND NEW.status='ended' AND NEW.tip_block_id=NEW.terminal_block_id
        AND EXISTS(SELECT 1 FROM integration_log l WHERE l.project_id=NEW.project_id AND l.kind='end'
          AND l.epoch=NEW.integrated_epoch AND l.session_id=NEW.session_id AND l.head_block_id=NEW.terminal_block_id)
      OR OLD.status='open' AND NEW.status='abandoned' AND NEW.tip_block_id=NEW.terminal_block_id
        AND EXISTS(SELECT 1 FROM block b WHERE b.project_id=NEW.project_id AND b.block_id=NEW.terminal_block_id
          AND b.session_id=NEW.session_id AND b.kind='abandon')
      OR OLD.status='ended' AND NEW.status='ended' AND OLD.integrated_epoch IS NULL
        AND EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
          AND a.kind IN('migration','import'))), FALSE)
  BEGIN SELECT RAISE(ABORT, 'session_transition: this is no transition of a session'); END;

-- What is never changed, and deleted only by an administrator's run.
CREATE TRIGGER block_no_update BEFORE UPDATE ON block WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'block_no_update: block is immutable'); END;
CREATE TRIGGER block_no_delete BEFORE DELETE ON block WHEN NOT
    EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy','import_rollback'))
  BEGIN SELECT RAISE(ABORT, 'block_no_delete: block is immutable'); END;
CREATE TRIGGER block_body_no_update BEFORE UPDATE ON block_body WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'block_body_no_update: block_body is immutable'); END;
CREATE TRIGGER block_body_no_delete BEFORE DELETE ON block_body WHEN NOT
    EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('purge','destroy','import_rollback'))
  BEGIN SELECT RAISE(ABORT, 'block_body_no_delete: block_body is immutable'); END;
CREATE TRIGGER block_parent_no_update BEFORE UPDATE ON block_parent WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'block_parent_no_update: block_parent is immutable'); END;
CREATE TRIGGER block_parent_no_delete BEFORE DELETE ON block_parent WHEN NOT
    EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy','import_rollback'))
  BEGIN SELECT RAISE(ABORT, 'block_parent_no_delete: block_parent is immutable'); END;
CREATE TRIGGER session_no_delete BEFORE DELETE ON session WHEN NOT
    EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy','import_rollback'))
  BEGIN SELECT RAISE(ABORT, 'session_no_delete: session is kept'); END;
CREATE TRIGGER project_no_delete BEFORE DELETE ON project WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'project_no_delete: project is kept'); END;

-- What is only ever added to.
CREATE TRIGGER integration_log_no_update BEFORE UPDATE ON integration_log WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'integration_log_no_update: integration_log is append-only'); END;
CREATE TRIGGER integration_log_no_delete BEFORE DELETE ON integration_log WHEN NOT
    EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy'))
  BEGIN SELECT RAISE(ABORT, 'integration_log_no_delete: integration_log is append-only'); END;
CREATE TRIGGER conflict_no_update BEFORE UPDATE ON conflict WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'conflict_no_update: conflict is append-only'); END;
CREATE TRIGGER conflict_no_delete BEFORE DELETE ON conflict WHEN NOT
    EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy'))
  BEGIN SELECT RAISE(ABORT, 'conflict_no_delete: conflict is append-only'); END;
CREATE TRIGGER conflict_side_no_update BEFORE UPDATE ON conflict_side WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'conflict_side_no_update: conflict_side is append-only'); END;
CREATE TRIGGER conflict_side_no_delete BEFORE DELETE ON conflict_side WHEN NOT
    EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy'))
  BEGIN SELECT RAISE(ABORT, 'conflict_side_no_delete: conflict_side is append-only'); END;
CREATE TRIGGER resolution_no_update BEFORE UPDATE ON resolution WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'resolution_no_update: resolution is append-only'); END;
CREATE TRIGGER resolution_no_delete BEFORE DELETE ON resolution WHEN NOT
    EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy','import_rollback'))
  BEGIN SELECT RAISE(ABORT, 'resolution_no_delete: resolution is append-only'); END;
CREATE TRIGGER receipt_no_update BEFORE UPDATE ON receipt WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'receipt_no_update: receipt is append-only'); END;
CREATE TRIGGER receipt_no_delete BEFORE DELETE ON receipt WHEN NOT
    EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy','import_rollback'))
  BEGIN SELECT RAISE(ABORT, 'receipt_no_delete: receipt is append-only'); END;
CREATE TRIGGER receipt_block_no_update BEFORE UPDATE ON receipt_block WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'receipt_block_no_update: receipt_block is append-only'); END;
CREATE TRIGGER receipt_block_no_delete BEFORE DELETE ON receipt_block WHEN NOT
    EXISTS(SELECT 1 FROM admin_run a WHERE a.project_id=OLD.project_id AND a.state='executing'
        AND a.kind IN('destroy','import_rollback'))
  BEGIN SELECT RAISE(ABORT, 'receipt_block_no_delete: receipt_block is append-only'); END;
CREATE TRIGGER project_event_no_update BEFORE UPDATE ON project_event WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'project_event_no_update: project_event is append-only'); END;
CREATE TRIGGER project_event_no_delete BEFORE DELETE ON project_event WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'project_event_no_delete: project_event is append-only'); END;
CREATE TRIGGER usage_event_no_update BEFORE UPDATE ON usage_event WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'usage_event_no_update: usage_event is append-only'); END;
CREATE TRIGGER usage_event_no_delete BEFORE DELETE ON usage_event WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'usage_event_no_delete: usage_event is append-only'); END;
CREATE TRIGGER kill_switch_log_no_update BEFORE UPDATE ON kill_switch_log WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'kill_switch_log_no_update: kill_switch_log is append-only'); END;
CREATE TRIGGER kill_switch_log_no_delete BEFORE DELETE ON kill_switch_log WHEN TRUE
  BEGIN SELECT RAISE(ABORT, 'kill_switch_log_no_delete: kill_switch_log is append-only'); END;

-- INSERT OR REPLACE deletes without asking the triggers above, where a connection does not say recursive_triggers.
CREATE TRIGGER project_no_replace BEFORE INSERT ON project WHEN
    EXISTS(SELECT 1 FROM project b WHERE b.project_id=NEW.project_id)
    OR EXISTS(SELECT 1 FROM project b WHERE b.principal_id=NEW.principal_id AND b.name=NEW.name)
  BEGIN SELECT RAISE(ABORT, 'project_no_replace: project has such a row'); END;
CREATE TRIGGER project_store_no_replace BEFORE INSERT ON project_store WHEN EXISTS(SELECT 1 FROM project_store b WHERE
    (b.project_id=NEW.project_id AND b.store_id=NEW.store_id))
  BEGIN SELECT RAISE(ABORT, 'project_store_no_replace: project_store has such a row'); END;
CREATE TRIGGER session_no_replace BEFORE INSERT ON session WHEN
    EXISTS(SELECT 1 FROM session b WHERE b.project_id=NEW.project_id AND b.session_id=NEW.session_id)
    OR EXISTS(SELECT 1 FROM session b WHERE b.project_id=NEW.project_id AND b.principal_id=NEW.principal_id AND b.native_ref=NEW.native_ref AND b.generation=NEW.generation)
    OR EXISTS(SELECT 1 FROM session b WHERE b.project_id=NEW.project_id AND b.principal_id=NEW.principal_id AND b.native_ref=NEW.native_ref AND b.status='open')
  BEGIN SELECT RAISE(ABORT, 'session_no_replace: session has such a row'); END;
CREATE TRIGGER block_no_replace BEFORE INSERT ON block WHEN
    EXISTS(SELECT 1 FROM block b WHERE b.project_id=NEW.project_id AND b.block_id=NEW.block_id)
    OR EXISTS(SELECT 1 FROM block b WHERE b.project_id=NEW.project_id AND b.project_seq=NEW.project_seq)
    OR EXISTS(SELECT 1 FROM block b WHERE b.project_id=NEW.project_id AND b.session_id=NEW.session_id AND b.session_seq=NEW.session_seq)
  BEGIN SELECT RAISE(ABORT, 'block_no_replace: block has such a row'); END;
CREATE TRIGGER block_body_no_replace BEFORE INSERT ON block_body WHEN EXISTS(SELECT 1 FROM block_body b WHERE
    (b.project_id=NEW.project_id AND b.block_id=NEW.block_id))
  BEGIN SELECT RAISE(ABORT, 'block_body_no_replace: block_body has such a row'); END;
CREATE TRIGGER block_parent_no_replace BEFORE INSERT ON block_parent WHEN EXISTS(SELECT 1 FROM block_parent b WHERE
    (b.project_id=NEW.project_id AND b.child_id=NEW.child_id AND b.ordinal=NEW.ordinal))
  BEGIN SELECT RAISE(ABORT, 'block_parent_no_replace: block_parent has such a row'); END;
CREATE TRIGGER integration_log_no_replace BEFORE INSERT ON integration_log WHEN EXISTS(SELECT 1 FROM integration_log b WHERE
    (b.project_id=NEW.project_id AND b.epoch=NEW.epoch))
  BEGIN SELECT RAISE(ABORT, 'integration_log_no_replace: integration_log has such a row'); END;
CREATE TRIGGER conflict_no_replace BEFORE INSERT ON conflict WHEN EXISTS(SELECT 1 FROM conflict b WHERE
    (b.project_id=NEW.project_id AND b.conflict_id=NEW.conflict_id))
  BEGIN SELECT RAISE(ABORT, 'conflict_no_replace: conflict has such a row'); END;
CREATE TRIGGER conflict_side_no_replace BEFORE INSERT ON conflict_side WHEN EXISTS(SELECT 1 FROM conflict_side b WHERE
    (b.project_id=NEW.project_id AND b.conflict_id=NEW.conflict_id AND b.ordinal=NEW.ordinal))
  BEGIN SELECT RAISE(ABORT, 'conflict_side_no_replace: conflict_side has such a row'); END;
CREATE TRIGGER resolution_no_replace BEFORE INSERT ON resolution WHEN EXISTS(SELECT 1 FROM resolution b WHERE
    (b.project_id=NEW.project_id AND b.conflict_id=NEW.conflict_id AND b.block_id=NEW.block_id))
  BEGIN SELECT RAISE(ABORT, 'resolution_no_replace: resolution has such a row'); END;
CREATE TRIGGER receipt_no_replace BEFORE INSERT ON receipt WHEN
    EXISTS(SELECT 1 FROM receipt b WHERE b.project_id=NEW.project_id AND b.receipt_id=NEW.receipt_id)
    OR EXISTS(SELECT 1 FROM receipt b WHERE b.project_id=NEW.project_id AND b.session_id=NEW.session_id AND b.content_sha256=NEW.content_sha256)
  BEGIN SELECT RAISE(ABORT, 'receipt_no_replace: receipt has such a row'); END;
CREATE TRIGGER receipt_block_no_replace BEFORE INSERT ON receipt_block WHEN EXISTS(SELECT 1 FROM receipt_block b WHERE
    (b.project_id=NEW.project_id AND b.receipt_id=NEW.receipt_id AND b.ordinal=NEW.ordinal))
  BEGIN SELECT RAISE(ABORT, 'receipt_block_no_replace: receipt_block has such a row'); END;
CREATE TRIGGER project_event_no_replace BEFORE INSERT ON project_event WHEN EXISTS(SELECT 1 FROM project_event b WHERE
    (b.project_id=NEW.project_id AND b.event_seq=NEW.event_seq))
  BEGIN SELECT RAISE(ABORT, 'project_event_no_replace: project_event has such a row'); END;
CREATE TRIGGER usage_event_no_replace BEFORE INSERT ON usage_event WHEN EXISTS(SELECT 1 FROM usage_event b WHERE
    (b.project_id=NEW.project_id AND b.project_seq=NEW.project_seq))
  BEGIN SELECT RAISE(ABORT, 'usage_event_no_replace: usage_event has such a row'); END;
CREATE TRIGGER kill_switch_log_no_replace BEFORE INSERT ON kill_switch_log WHEN EXISTS(SELECT 1 FROM kill_switch_log b WHERE
    (b.seq=NEW.seq))
  BEGIN SELECT RAISE(ABORT, 'kill_switch_log_no_replace: kill_switch_log has such a row'); END;
