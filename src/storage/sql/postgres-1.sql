-- What a gate stores. A payload is sealed, so it cannot be compressed. expires_at is 2^53 - 1 if an entry never expires.
CREATE TABLE coursegate_entry (
  kind TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  payload BYTEA NOT NULL,
  revision BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  consumed_at BIGINT,
  ref_grant TEXT COLLATE "C",
  ref_member TEXT COLLATE "C",
  ref_client TEXT COLLATE "C",
  ref_uid TEXT COLLATE "C",
  charged SMALLINT NOT NULL,
  PRIMARY KEY (kind, id)
) WITH (autovacuum_vacuum_scale_factor = 0.05);
ALTER TABLE coursegate_entry ALTER COLUMN payload SET STORAGE EXTERNAL;
CREATE INDEX coursegate_entry_expiry ON coursegate_entry (expires_at);
CREATE INDEX coursegate_entry_grant ON coursegate_entry (kind, ref_grant, expires_at) WHERE ref_grant IS NOT NULL;
CREATE INDEX coursegate_entry_member ON coursegate_entry (kind, ref_member, expires_at) WHERE ref_member IS NOT NULL;
CREATE INDEX coursegate_entry_client ON coursegate_entry (kind, ref_client, expires_at) WHERE ref_client IS NOT NULL;
CREATE INDEX coursegate_entry_uid ON coursegate_entry (kind, ref_uid, expires_at) WHERE ref_uid IS NOT NULL;

-- The entries that strangers cause, oldest first, and the totals of each part of a quota.
CREATE TABLE coursegate_charge (
  kind TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  quota TEXT NOT NULL,
  network TEXT NOT NULL,
  wider TEXT NOT NULL,
  client TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  age BIGINT GENERATED ALWAYS AS IDENTITY,
  PRIMARY KEY (kind, id)
);
CREATE INDEX coursegate_charge_quota ON coursegate_charge (quota, age);
CREATE INDEX coursegate_charge_network ON coursegate_charge (quota, network, age);
CREATE INDEX coursegate_charge_wider ON coursegate_charge (quota, wider, age);
CREATE INDEX coursegate_charge_client ON coursegate_charge (quota, client, age);
CREATE INDEX coursegate_charge_client_wider ON coursegate_charge (quota, client, wider, age);
CREATE TABLE coursegate_quota (
  quota TEXT NOT NULL,
  client TEXT NOT NULL,
  network TEXT NOT NULL,
  bytes BIGINT NOT NULL,
  PRIMARY KEY (quota, client, network)
);
CREATE INDEX coursegate_quota_most ON coursegate_quota (quota, client, bytes);

-- Rate limits. They may be lost in a crash, and are then written without waiting for the disk.
CREATE UNLOGGED TABLE coursegate_counter (
  id TEXT PRIMARY KEY,
  count BIGINT NOT NULL,
  resets_at BIGINT NOT NULL
);
CREATE INDEX coursegate_counter_end ON coursegate_counter (resets_at);

CREATE TABLE coursegate_schema (version INTEGER NOT NULL);
