// Which file system a directory is on, as far as the kernel says. SQLite needs locks and shared memory that hold between processes; over a
// network they do not.

import { readFileSync } from 'node:fs'

const networks: ReadonlySet<string> = new Set(
  'nfs nfs4 cifs smb3 smbfs 9p afs ceph coda lustre gpfs beegfs ocfs2 gfs2 orangefs ncpfs fuse.sshfs fuse.s3fs fuse.rclone fuse.glusterfs fuse.davfs davfs fuse.gcsfuse fuse.mount-s3 fuse.juicefs'.split(
    ' ',
  ),
)

/** The name of the network file system that a directory is on; undefined if it is on a disk, or the kernel does not say. */
export function networkFileSystem(directory: string, mounts: () => string = mountInfo): string | undefined {
  if (process.platform === 'win32' && directory.startsWith('\\\\')) return 'a share'
  let best: { readonly point: string; readonly type: string } | undefined
  for (const line of mounts().split('\n')) {
    // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw
    const [before, after] = line.split(' - ')
    const point = before?.split(' ')[4]?.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)))
    const type = after?.split(' ')[0]
    if (point === undefined || type === undefined) continue
    const isAbove = directory === point || directory.startsWith(point.endsWith('/') ? point : `${point}/`)
    // Of two at one place the later one covers the earlier.
    if (isAbove && point.length >= (best?.point.length ?? 0)) best = { point, type }
  }
  return best !== undefined && networks.has(best.type) ? best.type : undefined
}

function mountInfo(): string {
  try {
    return readFileSync('/proc/self/mountinfo', 'utf8')
  } catch {
    return ''
  }
}
