#!/bin/sh
# Boots the machine's own systemd in separate namespaces: the machine's files under an overlay whose
# changes go to FOLDER, the checkout at /opt/winnow, no network but loopback, and none of the
# machine's units except the journal's. Run as root: boot-systemd.sh CHECKOUT FOLDER. FOLDER must be
# empty, and the caller removes it afterwards. The script and its child, systemd, end together.
set -eu
checkout=$1
folder=$2

if [ "${3:-}" != inside ]; then
  # Makes a subtree of control groups, which is the root in its cgroup namespace.
  groups=/sys/fs/cgroup
  [ -e $groups/cgroup.controllers ] || groups=$groups/unified
  group=$groups/winnow-test-$$
  mkdir "$group"
  echo $$ >"$group/cgroup.procs"
  exec unshare --pid --fork --kill-child=KILL --mount --propagation=private --uts --ipc --net \
    --cgroup sh "$0" "$checkout" "$folder" inside
fi

overlay() {
  mkdir "$folder/changes" "$folder/work" "$folder/root"
  mount -t overlay overlay -o "lowerdir=/,upperdir=$folder/changes,workdir=$folder/work" "$folder/root"
}
# An overlay can't be stacked on another, such as a container's disk; in that case the changes are
# kept in memory.
overlay 2>/dev/null || { mount -t tmpfs tmpfs "$folder" && overlay; }
root=$folder/root
for path in tmp var/tmp run dev; do mount -t tmpfs -o mode=1777 tmpfs "$root/$path"; done
chmod 755 "$root/run" "$root/dev"
for device in null zero full random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm" "$root/dev/pts" "$root/run/units" "$root/run/before"
mount -t tmpfs tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mkdir -p "$root/opt/winnow"
mount --bind "$checkout" "$root/opt/winnow"
mount -o remount,bind,ro "$root/opt/winnow"
mount -t proc proc "$root/proc"
mount -t sysfs sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
pivot_root "$root" "$root/run/before"
cd /
umount -l /run/before
mount --make-rshared / # as systemd does outside of containers; credentials need it

# Without a /tmp of its own, systemd would clean the machine's.
[ "$(stat -f -c %T /tmp)" = tmpfs ] || exit 1
for unit in sysinit basic sockets network-online shutdown; do
  printf '[Unit]\nDefaultDependencies=no\n' >/run/units/$unit.target
done
printf '[Unit]\nDefaultDependencies=no\nWants=systemd-journald.service\n' >/run/units/default.target
for unit in systemd-journald.service systemd-journald.socket systemd-journald-dev-log.socket; do
  cp "/lib/systemd/system/$unit" /run/units/
done
mount -t tmpfs tmpfs /lib/systemd/system # packages under test install their own units
rm -rf /etc/systemd/system /etc/machine-id
mkdir /etc/systemd/system
echo 0123456789abcdef0123456789abcdef >/etc/machine-id
exec env -i container=winnow-test PATH="$PATH" \
  SYSTEMD_UNIT_PATH=/etc/systemd/system:/run/units:/usr/lib/systemd/system \
  SYSTEMD_GENERATOR_PATH=/run/none SYSTEMD_ENVIRONMENT_GENERATOR_PATH=/run/none \
  /lib/systemd/systemd --system --unit=default.target --log-target=journal --show-status=no
