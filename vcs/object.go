package vcs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// mostMetadata is how large a commit, a tag or a tree may be: what is larger is no work of people.
const mostMetadata = 64 << 20

// content reads a whole object that isn't a file.
func content(obj plumbing.EncodedObject) ([]byte, error) {
	if obj.Size() > mostMetadata {
		return nil, fmt.Errorf("it has %d bytes, more than %d", obj.Size(), mostMetadata)
	}
	reader, err := obj.Reader()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(reader, mostMetadata+1))
	return text, errors.Join(err, reader.Close())
}

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

// id is the header that names an object.
func id(obj plumbing.EncodedObject, key string) (plumbing.Hash, []byte, error) {
	text, err := content(obj)
	if err != nil {
		return plumbing.ZeroHash, nil, err
	}
	value, ok := header(text, key)
	if !ok || !plumbing.IsHash(value) || len(value) != 40 {
		return plumbing.ZeroHash, nil, fmt.Errorf("it names no %s", key)
	}
	return plumbing.NewHash(value), text, nil
}

// target is what a tag names.
func target(tag plumbing.EncodedObject) (plumbing.Hash, error) {
	hash, _, err := id(tag, "object")
	return hash, err
}

// commitInfo is what is needed of a commit.
type commitInfo struct {
	tree plumbing.Hash
	// authored and committed are times as a commit has them: "1700000000 +0100".
	authored, committed string
}

func (r *Repository) commit(commit Commit) (commitInfo, error) {
	refused := func(err error) (commitInfo, error) { return commitInfo{}, fmt.Errorf("commit %s: %w", commit, err) }
	obj, err := r.object(plumbing.CommitObject, plumbing.NewHash(string(commit)))
	if err != nil {
		return refused(err)
	}
	tree, text, err := id(obj, "tree")
	if err != nil {
		return refused(err)
	}
	author, _ := header(text, "author")
	committer, _ := header(text, "committer")
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
