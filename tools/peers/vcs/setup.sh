#!/bin/sh
# What vcs.Setup does, by git: one commit on an empty root for each tag, with the files of that tag, and nothing else. All commits are made by one
# process, and the objects of the source are borrowed until the pack is written, which takes their compressed bytes and deltas as they are.
set -eu
source=$1 destination=$2
git init -q -b main --template= "$destination"
cd "$destination"
echo "$source/.git/objects" >.git/objects/info/alternates
{
	printf 'commit refs/heads/root\nmark :1\nauthor operkit <noreply@operkit.dev> 0 +0000\ncommitter operkit <noreply@operkit.dev> 0 +0000\ndata 5\nroot\n\n'
	format='%(refname:lstrip=2)	%(if)%(*objectname)%(then)%(*tree)	%(*authordate:raw)	%(*committerdate:raw)%(else)%(tree)	%(authordate:raw)	%(committerdate:raw)%(end)'
	git -C "$source" for-each-ref --format="$format" refs/tags | while IFS='	' read -r name tree authored committed; do
		printf 'commit refs/heads/%s\nauthor operkit <noreply@operkit.dev> %s\ncommitter operkit <noreply@operkit.dev> %s\ndata %d\n%s\n\nfrom :1\nM 040000 %s \n\n' \
			"$name" "$authored" "$committed" "$((${#name} + 1))" "$name" "$tree"
	done
} | git fast-import --quiet
root=$(git rev-parse refs/heads/root)
printf '%s\n' "$root" >.git/HEAD
git update-ref -d refs/heads/root
git pack-refs --all
git repack -adq
rm .git/objects/info/alternates
