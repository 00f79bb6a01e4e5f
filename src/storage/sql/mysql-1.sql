-- What a gate stores. A payload is sealed. expires_at is 2^53 - 1 if an entry never expires. Each of these statements is
-- committed by itself, so a start that was interrupted begins again.
CREATE TABLE IF NOT EXISTS coursegate_entry (
  kind VARCHAR(64) NOT NULL,
  id VARCHAR(255) NOT NULL,
  payload MEDIUMBLOB NOT NULL,
  revision BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  consumed_at BIGINT,
  ref_grant VARCHAR(255),
  ref_member VARCHAR(255),
  ref_client VARCHAR(255),
  ref_uid VARCHAR(255),
  charged TINYINT NOT NULL,
  PRIMARY KEY (kind, id),
  KEY by_expiry (expires_at),
  KEY by_grant (kind, ref_grant, expires_at),
  KEY by_member (kind, ref_member, expires_at),
  KEY by_client (kind, ref_client, expires_at),
  KEY by_uid (kind, ref_uid, expires_at)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET ascii COLLATE ascii_bin;

-- The entries that strangers cause, oldest first, and the totals of each part of a quota.
CREATE TABLE IF NOT EXISTS coursegate_charge (
  kind VARCHAR(64) NOT NULL,
  id VARCHAR(255) NOT NULL,
  quota VARCHAR(64) NOT NULL,
  network VARCHAR(255) NOT NULL,
  wider VARCHAR(255) NOT NULL,
  client VARCHAR(255) NOT NULL,
  bytes BIGINT NOT NULL,
  age BIGINT NOT NULL AUTO_INCREMENT UNIQUE,
  PRIMARY KEY (kind, id),
  KEY by_quota (quota, age),
  KEY by_network (quota, network, age),
  KEY by_wider (quota, wider, age),
  KEY by_client (quota, client, age),
  KEY by_client_wider (quota, client, wider, age)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET ascii COLLATE ascii_bin;
CREATE TABLE IF NOT EXISTS coursegate_quota (
  quota VARCHAR(64) NOT NULL,
  client VARCHAR(255) NOT NULL,
  network VARCHAR(255) NOT NULL,
  bytes BIGINT NOT NULL,
  PRIMARY KEY (quota, client, network),
  KEY by_most (quota, client, bytes)
) ENGINE = InnoDB ROW_FORMAT = DYNAMIC DEFAULT CHARACTER SET ascii COLLATE ascii_bin;

-- Rate limits.
CREATE TABLE IF NOT EXISTS coursegate_counter (
  id VARCHAR(64) PRIMARY KEY,
  count BIGINT NOT NULL,
  resets_at BIGINT NOT NULL,
  KEY by_end (resets_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET ascii COLLATE ascii_bin;

-- One row, whose number each revocation increases.
CREATE TABLE IF NOT EXISTS coursegate_revocation (id TINYINT PRIMARY KEY, number BIGINT NOT NULL) ENGINE = InnoDB;
INSERT INTO coursegate_revocation (id, number) VALUES (1, 0) ON DUPLICATE KEY UPDATE number = number;

CREATE TABLE IF NOT EXISTS coursegate_schema (version INTEGER NOT NULL) ENGINE = InnoDB;
