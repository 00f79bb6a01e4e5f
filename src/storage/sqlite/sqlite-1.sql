-- The store's one table of entries. `revision` comes with the next migration.
CREATE TABLE entry (
  kind TEXT NOT NULL, id TEXT NOT NULL, payload TEXT NOT NULL,
  expires_at INTEGER, consumed_at INTEGER,
  ref_grant TEXT, ref_member TEXT, ref_client TEXT, ref_uid TEXT,
  quota TEXT, by_network TEXT, by_wider TEXT, by_client TEXT
) STRICT;
CREATE UNIQUE INDEX entry_key ON entry (kind, id);
CREATE INDEX entry_expiry ON entry (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX entry_grant ON entry (kind, ref_grant) WHERE ref_grant IS NOT NULL;
CREATE INDEX entry_member ON entry (kind, ref_member) WHERE ref_member IS NOT NULL;
CREATE INDEX entry_client ON entry (kind, ref_client) WHERE ref_client IS NOT NULL;
CREATE INDEX entry_uid ON entry (kind, ref_uid) WHERE ref_uid IS NOT NULL;
CREATE INDEX entry_quota ON entry (quota) WHERE quota IS NOT NULL;
CREATE INDEX entry_network ON entry (quota, by_network) WHERE quota IS NOT NULL;
CREATE INDEX entry_wider ON entry (quota, by_wider) WHERE quota IS NOT NULL;
CREATE INDEX entry_app ON entry (quota, by_client) WHERE quota IS NOT NULL;
CREATE INDEX entry_app_wider ON entry (quota, by_client, by_wider) WHERE quota IS NOT NULL;

-- The totals of what strangers store, updated on every write and delete. An entry counts towards its network and wider
-- network among those of all clients, and towards its client and the wider network there; '*' is all of them.
CREATE TABLE charged (
  quota TEXT NOT NULL, client TEXT NOT NULL, network TEXT NOT NULL, bytes INTEGER NOT NULL,
  PRIMARY KEY (quota, client, network)
) WITHOUT ROWID, STRICT;
CREATE INDEX charged_most ON charged (quota, client, bytes);

CREATE TRIGGER entry_charged AFTER INSERT ON entry WHEN NEW.quota IS NOT NULL BEGIN
  INSERT INTO charged VALUES
    (NEW.quota, '*', '*', octet_length(NEW.payload) + 1024),
    (NEW.quota, '*', NEW.by_network, octet_length(NEW.payload) + 1024),
    (NEW.quota, '*', NEW.by_wider, octet_length(NEW.payload) + 1024),
    (NEW.quota, NEW.by_client, '*', octet_length(NEW.payload) + 1024),
    (NEW.quota, NEW.by_client, NEW.by_wider, octet_length(NEW.payload) + 1024)
  ON CONFLICT (quota, client, network) DO UPDATE SET bytes = bytes + excluded.bytes;
END;

CREATE TRIGGER entry_released AFTER DELETE ON entry WHEN OLD.quota IS NOT NULL BEGIN
  UPDATE charged SET bytes = bytes - (octet_length(OLD.payload) + 1024)
    WHERE quota = OLD.quota AND client IN ('*', OLD.by_client) AND network IN ('*', OLD.by_network, OLD.by_wider);
  DELETE FROM charged
    WHERE quota = OLD.quota AND client IN ('*', OLD.by_client) AND network IN ('*', OLD.by_network, OLD.by_wider)
    AND bytes <= 0;
END;

CREATE TRIGGER entry_recharged_from AFTER UPDATE OF payload, quota, by_network, by_wider, by_client ON entry
WHEN OLD.quota IS NOT NULL BEGIN
  UPDATE charged SET bytes = bytes - (octet_length(OLD.payload) + 1024)
    WHERE quota = OLD.quota AND client IN ('*', OLD.by_client) AND network IN ('*', OLD.by_network, OLD.by_wider);
  DELETE FROM charged
    WHERE quota = OLD.quota AND client IN ('*', OLD.by_client) AND network IN ('*', OLD.by_network, OLD.by_wider)
    AND bytes <= 0;
END;

CREATE TRIGGER entry_recharged_to AFTER UPDATE OF payload, quota, by_network, by_wider, by_client ON entry
WHEN NEW.quota IS NOT NULL BEGIN
  INSERT INTO charged VALUES
    (NEW.quota, '*', '*', octet_length(NEW.payload) + 1024),
    (NEW.quota, '*', NEW.by_network, octet_length(NEW.payload) + 1024),
    (NEW.quota, '*', NEW.by_wider, octet_length(NEW.payload) + 1024),
    (NEW.quota, NEW.by_client, '*', octet_length(NEW.payload) + 1024),
    (NEW.quota, NEW.by_client, NEW.by_wider, octet_length(NEW.payload) + 1024)
  ON CONFLICT (quota, client, network) DO UPDATE SET bytes = bytes + excluded.bytes;
END;

-- The filler is the reserve (space.ts).
CREATE TABLE reserve (filler BLOB NOT NULL) STRICT;
-- "cgat"
PRAGMA application_id = 0x63676174;
