// Statements of one round trip that a fence lets in: each gives a row where the scope has the epoch, and does nothing where not.
// $1 and $2 are scope and epoch, $3 is the id.

const owned = (s: string): string => `owned as materialized (select 1 from ${s}.owners where scope = $1 and epoch = $2 for share)`

/** $4 seq, $5 version, $6 data, $7 time, $8 kind. The newest two stay, of those that are there and this one. */
export function saveSnapshotStatement(s: string): string {
  return `with ${owned(s)}, others as materialized (select seq from ${s}.snapshots where id = $3 and seq <> $4
), listed as (
  insert into ${s}.heads (id, kind, seq) select $3, $8, 0 from owned on conflict do nothing
), saved as (
  insert into ${s}.snapshots (id, seq, version, data, time) select $3, $4, $5, $6, $7 from owned where (select count(*) from others where seq > $4) < 2
  on conflict (id, seq) do update set version = excluded.version, data = excluded.data, time = excluded.time
), dropped as (
  delete from ${s}.snapshots p using owned where p.id = $3 and p.seq <> $4
    and (select count(*) from others o where o.seq > p.seq) + (case when $4::bigint > p.seq then 1 else 0 end) >= 2
) select 1 from owned`
}

/** $4 the number up to which snapshots go. */
export function deleteSnapshotsStatement(s: string): string {
  return `with ${owned(s)}, gone as (delete from ${s}.snapshots p using owned where p.id = $3 and p.seq <= $4) select 1 from owned`
}

/** $4 the number up to which events go. A run goes with the last of its events; until then the head says what of it is gone. */
export function deleteEventsStatement(s: string): string {
  return `with ${owned(s)}, marked as (
  update ${s}.heads h set deleted = least($4, h.seq) from owned where h.id = $3 and h.deleted < least($4, h.seq)
), gone as (
  delete from ${s}.runs r using owned where r.id = $3 and r.first <= $4 and r.last <= $4 returning r.first
), untagged as (
  delete from ${s}.run_tags t using gone g where t.id = $3 and t.first = g.first
) select 1 from owned`
}

/** $1 scope, $2 epoch, $3 who: gives a row where the scope is his now. */
export function raiseStatement(s: string): string {
  return `insert into ${s}.owners as o (scope, epoch, holder) values ($1, $2, $3)
  on conflict (scope) do update set epoch = excluded.epoch, holder = excluded.holder
  where o.epoch < excluded.epoch or (o.epoch = excluded.epoch and o.holder = excluded.holder) returning o.epoch`
}
