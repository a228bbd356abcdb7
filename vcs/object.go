package vcs

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// maxMetadata is the maximum length of a commit, a tag or a tree, in bytes.
const maxMetadata = 64 << 20

// header returns the value of a header of a commit or a tag.
func header(text []byte, key string) (string, bool) {
	for line := range bytes.Lines(text) {
		if len(line) == 1 {
			break // the message follows
		}
		if value, ok := bytes.CutPrefix(line, []byte(key+" ")); ok {
			return strings.TrimSuffix(string(value), "\n"), true
		}
	}
	return "", false
}

// id returns the id in a header that names another object. As in git, it has to be the first header.
func (o object) id(key string) (plumbing.Hash, error) {
	value, ok := header(o.text, key)
	if !ok || !bytes.HasPrefix(o.text, []byte(key)) || !plumbing.IsHash(value) || len(value) != 40 {
		return plumbing.ZeroHash, fmt.Errorf("it names no %s", key)
	}
	return plumbing.NewHash(value), nil
}

// commitInfo has the parts of a commit that this package uses.
type commitInfo struct {
	tree plumbing.Hash
	// authored and committed are times as they are written in commits: "1700000000 +0100".
	authored, committed string
}

func (r *Repository) commit(commit Commit) (commitInfo, error) {
	refused := func(err error) (commitInfo, error) { return commitInfo{}, fmt.Errorf("commit %s: %w", commit, err) }
	obj, err := r.object(plumbing.NewHash(string(commit)))
	if err == nil && obj.kind != plumbing.CommitObject {
		err = fmt.Errorf("it is a %s", obj.kind)
	}
	if err != nil {
		return refused(err)
	}
	tree, err := obj.id("tree")
	if err != nil {
		return refused(err)
	}
	author, _ := header(obj.text, "author")
	committer, _ := header(obj.text, "committer")
	authored, authorErr := timeOf(author)
	committed, err := timeOf(committer)
	if err = errors.Join(err, authorErr); err != nil {
		return refused(err)
	}
	return commitInfo{tree, authored, committed}, nil
}

// person matches the end of a header such as "Name <address> 1700000000 +0100".
var person = regexp.MustCompile(`> (-?[0-9]{1,18} [+-][0-9]{4})$`)

func timeOf(line string) (string, error) {
	found := person.FindStringSubmatch(line)
	if found == nil {
		return "", fmt.Errorf("its author or committer %q has no time", line)
	}
	return found[1], nil
}
