package vcs

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// mostMetadata is how large a commit, a tag or a tree may be: what is larger is no work of people.
const mostMetadata = 64 << 20

// header is the value of a line at the beginning of a commit or a tag.
func header(text []byte, key string) (string, bool) {
	for line := range bytes.Lines(text) {
		if len(line) == 1 {
			break // what follows is the message
		}
		if value, ok := bytes.CutPrefix(line, []byte(key+" ")); ok {
			return strings.TrimSuffix(string(value), "\n"), true
		}
	}
	return "", false
}

// id is the header of an object that names another one. It is the first one, as for git: of two there might be it is the one that all see.
func (o object) id(key string) (plumbing.Hash, error) {
	value, ok := header(o.text, key)
	if !ok || !bytes.HasPrefix(o.text, []byte(key)) || !plumbing.IsHash(value) || len(value) != 40 {
		return plumbing.ZeroHash, fmt.Errorf("it names no %s", key)
	}
	return plumbing.NewHash(value), nil
}

// commitInfo is what is needed of a commit.
type commitInfo struct {
	tree plumbing.Hash
	// authored and committed are times as a commit has them: "1700000000 +0100".
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

// person is the end of a line about somebody: "Name <address> 1700000000 +0100".
var person = regexp.MustCompile(`> (-?[0-9]{1,18} [+-][0-9]{4})$`)

func timeOf(line string) (string, error) {
	found := person.FindStringSubmatch(line)
	if found == nil {
		return "", fmt.Errorf("its author or committer %q has no time", line)
	}
	return found[1], nil
}
