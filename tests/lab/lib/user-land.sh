# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# User lands of other releases, which guests can run as containers: a root each, with a compiler, and a disk of it.
# shellcheck shell=bash

readonly KNOWN_USER_LANDS=(debian12 sid pyverbs)

# make_unstable_root NAME DESTINATION MIRROR: as make_root, but unstable has no backports, which are the last argument there. Its index
# says that it is good for a week, but a mirror may stand still.
make_unstable_root() (
	# shellcheck disable=SC2317 # make_root calls it
	mmdebstrap() { command mmdebstrap "${@:1:$# - 1}"; }
	make_root "$1" "$2" "[check-valid-until=no] $3"
)

# The disk with a user land, beside its root's files. Its label is the root's name.
user_land_image() { printf '%s/.lab-image' "$(root_dir "user-$1")"; }

# make_user_land NAME DESTINATION: its disk.
make_user_land() {
	local root size
	root=$(root_dir "user-$1")
	size=$(du -sm "$root" | cut -f1)
	mkdir -p "$2"
	in_tools --bind "$root" --bind "$2" -- mke2fs -q -t ext4 -O ^has_journal -m 0 -L "user-$1" -d "$root" "$2/disk" \
		"$((size + size / 10 + 64))M"
}

# ensure_user_land NAME
ensure_user_land() {
	ensure_root "user-$1"
	[ ! -e "$(user_land_image "$1")" ] || return 0
	need_space "$CACHE" 1500 "the disk of a user land"
	local partial=$CACHE/partial-user-land.$$
	step "making the disk of the user land $1" "$CACHE/log/user-land.log" make_user_land "$1" "$partial" ||
		die "$EX_HOST" "the disk could not be made" "the whole log is $CACHE/log/user-land.log"
	mv "$partial/disk" "$(user_land_image "$1")"
	rmdir "$partial"
}

# user_lands_there: the disks of all that machines are to have.
user_lands_there() {
	local name
	for name in $USER_LANDS; do
		[ -e "$(user_land_image "$name")" ] || return 1
	done
}
