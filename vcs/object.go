package vcs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

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
	// when is the time of the committer, with its zone.
	when time.Time
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
	committer, _ := header(text, "committer")
	when, err := timeOf(committer)
	if err != nil {
		return refused(err)
	}
	return commitInfo{tree: tree, when: when}, nil
}

// timeOf is the time at the end of a line about a person: "Name <address> 1700000000 +0100".
func timeOf(person string) (time.Time, error) {
	_, after, ok := strings.Cut(person[max(strings.LastIndexByte(person, '>'), 0):], "> ")
	var seconds int64
	var zone int
	if !ok {
		return time.Time{}, errors.New("its committer has no time")
	}
	if n, _ := fmt.Sscanf(after, "%d %d", &seconds, &zone); n == 0 {
		return time.Time{}, fmt.Errorf("its committer's time %q can't be read", after)
	}
	offset := (zone/100*60 + zone%100) * 60
	return time.Unix(seconds, 0).In(time.FixedZone("", offset)), nil
}
