package git

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Commit writes a commit that differs from its parent by the given files, and returns its id. It changes no reference,
// index or working tree.
func (d Dir) Commit(ctx context.Context, parent, message string, files map[string][]byte) (string, error) {
	temporary, err := os.MkdirTemp("", "release-index-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(temporary) }() // in the folder for temporary files
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(temporary, "index")}
	if _, err := d.feed(ctx, "", index, "read-tree", parent); err != nil {
		return "", err
	}
	var entries strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		blob, err := d.feed(ctx, string(files[name]), nil, "hash-object", "-w", "--stdin")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&entries, "100644 %s\t%s\n", blob, name)
	}
	if _, err := d.feed(ctx, entries.String(), index, "update-index", "--add", "--index-info"); err != nil {
		return "", err
	}
	tree, err := d.feed(ctx, "", index, "write-tree")
	if err != nil {
		return "", err
	}
	return d.feed(ctx, message+"\n", nil, "commit-tree", tree, "-p", parent)
}

// Tag writes an annotated tag of a commit, and returns the id of the tag object. It changes no reference.
func (d Dir) Tag(ctx context.Context, name, commit, message string) (string, error) {
	tagger, err := d.run(ctx, "var", "GIT_COMMITTER_IDENT")
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("object %s\ntype commit\ntag %s\ntagger %s\n\n%s\n", commit, name, tagger, strings.TrimSpace(message))
	return d.feed(ctx, text, nil, "mktag")
}

// Update is a change of one reference from Old to New. If Old is empty, the reference must not exist.
type Update struct{ Reference, New, Old string }

// Publish makes all changes of references, or none if a reference doesn't have the old value of its Update.
func (d Dir) Publish(ctx context.Context, updates []Update) error {
	lines := []string{"start"}
	for _, u := range updates {
		if u.Old == "" {
			lines = append(lines, "create "+u.Reference+" "+u.New)
		} else {
			lines = append(lines, "update "+u.Reference+" "+u.New+" "+u.Old)
		}
	}
	lines = append(lines, "prepare", "commit", "")
	_, err := d.feed(ctx, strings.Join(lines, "\n"), nil, "update-ref", "-m", "release", "--stdin")
	return err
}

// Forward updates index and working tree from one commit to another, for the files that differ between the two. If one
// of these files has other changes, it returns an error and changes nothing.
func (d Dir) Forward(ctx context.Context, from, to string) error {
	// Without a refresh git treats a file as changed even if only its time differs from the index. read-tree reports
	// real changes.
	_, _ = d.run(ctx, "update-index", "-q", "--refresh")
	_, err := d.run(ctx, "read-tree", "-m", "-u", from, to)
	return err
}

// Remote returns the remote that a branch is pushed to: the remote in the branch's configuration, otherwise origin,
// otherwise the only remote. It returns "" if none of these exists.
func (d Dir) Remote(ctx context.Context, branch string) (string, error) {
	out, err := d.run(ctx, "remote")
	if err != nil {
		return "", err
	}
	remotes := strings.Fields(out)
	short := strings.TrimPrefix(branch, "refs/heads/")
	if configured, err := d.run(ctx, "config", "branch."+short+".remote"); err == nil && slices.Contains(remotes, configured) {
		return configured, nil
	}
	switch {
	case slices.Contains(remotes, "origin"):
		return "origin", nil
	case len(remotes) == 1:
		return remotes[0], nil
	}
	return "", ctx.Err()
}
