package vcs

import (
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/storage/filesystem"
)

const (
	// verifyCache is how much of what deltas are made of is kept in memory.
	verifyCache = 32 * cache.MiByte
	// verifyWhole is how long an object may be that is unpacked in memory: git makes no deltas of longer ones, which go-git reads several times over.
	verifyWhole = 512 << 20
)

// resultReader reads what Setup has written: by go-git alone, so that no mistake of the writer is made a second time.
type resultReader struct {
	storage *filesystem.Storage
	// kinds are those of all objects that there are, trees and commits what these two hold.
	kinds   map[plumbing.Hash]plumbing.ObjectType
	trees   map[plumbing.Hash][]entry
	commits map[plumbing.Hash][]byte
	// reached are the objects that the references need.
	reached map[plumbing.Hash]bool
}

// newResultReader unpacks objects that are longer than whole while they are read.
func newResultReader(git string, whole int64) *resultReader {
	options := filesystem.Options{KeepDescriptors: true, LargeObjectThreshold: whole}
	return &resultReader{
		storage: filesystem.NewStorageWithOptions(osfs.New(git, osfs.WithBoundOS()), cache.NewObjectLRU(verifyCache), options),
		kinds:   map[plumbing.Hash]plumbing.ObjectType{}, trees: map[plumbing.Hash][]entry{}, commits: map[plumbing.Hash][]byte{}, reached: map[plumbing.Hash]bool{},
	}
}

// onePack is the name of the one pack of a repository that has nothing else, without its ending. The sums at its end and at that of its index are
// as they have to be.
func onePack(git string) (path string, err error) {
	names := map[string][]string{}
	for _, folder := range []string{"objects", "objects/info", "objects/pack"} {
		entries, err := os.ReadDir(filepath.Join(git, folder))
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			names[folder] = append(names[folder], e.Name())
		}
	}
	packs := names["objects/pack"]
	if !slices.Equal(names["objects"], []string{"info", "pack"}) || len(names["objects/info"]) > 0 || len(packs) != 2 {
		return "", fmt.Errorf("there is more or less than one pack: %v", names)
	}
	path = filepath.Join(git, "objects", "pack", strings.TrimSuffix(packs[0], ".idx"))
	for _, end := range []string{".pack", ".idx"} {
		if err := checkSum(path + end); err != nil {
			return "", err
		}
	}
	return path, nil
}

func checkSum(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	sum, end := sha1.New(), make([]byte, sha1.Size)
	if _, err := io.CopyN(sum, file, info.Size()-sha1.Size); err != nil {
		return err
	}
	if _, err := io.ReadFull(file, end); err != nil {
		return err
	}
	if !bytes.Equal(end, sum.Sum(nil)) {
		return fmt.Errorf("%s: the sum at its end is wrong", filepath.Base(path))
	}
	return nil
}

// readObjects reads all objects of a pack by their names, in the order in which they are in it, and compares each with its name.
func (r *resultReader) readObjects(ctx context.Context, pack string, progress func(done int)) error {
	file, err := os.Open(pack + ".idx")
	if err != nil {
		return err
	}
	index := idxfile.NewMemoryIndex()
	if err := errors.Join(idxfile.NewDecoder(file).Decode(index), file.Close()); err != nil {
		return err
	}
	all, err := index.EntriesByOffset()
	if err != nil {
		return err
	}
	for {
		progress(len(r.kinds))
		entry, err := all.Next()
		if errors.Is(err, io.EOF) {
			return all.Close()
		}
		if err == nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = r.read(entry.Hash)
		}
		if err != nil {
			return err
		}
	}
}

func (r *resultReader) read(name plumbing.Hash) error {
	refused := func(err error) error { return fmt.Errorf("object %s: %w", name, err) }
	obj, err := r.storage.EncodedObject(plumbing.AnyObject, name)
	if err != nil {
		return refused(err)
	}
	reader, err := obj.Reader()
	if err != nil {
		return refused(err)
	}
	var text bytes.Buffer
	var kept io.Writer = &text
	if obj.Type() == plumbing.BlobObject {
		kept = io.Discard
	}
	sum := plumbing.NewHasher(obj.Type(), obj.Size())
	_, err = io.Copy(io.MultiWriter(sum, kept), reader)
	if err := errors.Join(err, reader.Close()); err != nil {
		return refused(err)
	}
	if sum.Sum() != name {
		return refused(errors.New("its content isn't what its name says"))
	}
	r.kinds[name] = obj.Type()
	switch obj.Type() {
	case plumbing.BlobObject:
	case plumbing.TreeObject:
		if r.trees[name], err = parseTree(text.Bytes()); err != nil {
			return refused(err)
		}
	case plumbing.CommitObject:
		r.commits[name] = text.Bytes()
	default:
		return refused(fmt.Errorf("it is a %s, which nothing needs", obj.Type()))
	}
	return nil
}

// reach notes an object, and all that is below it, of which each has to be there and to be what it is needed as.
func (r *resultReader) reach(hash plumbing.Hash, kind plumbing.ObjectType) error {
	if got, is := r.kinds[hash]; !is {
		return fmt.Errorf("%s %s: it is missing", kind, hash)
	} else if got != kind {
		return fmt.Errorf("%s %s: it is a %s", kind, hash, got)
	}
	if r.reached[hash] {
		return nil
	}
	r.reached[hash] = true
	for _, e := range r.trees[hash] {
		var err error
		switch e.mode {
		case modeModule:
		case modeFolder:
			err = r.reach(e.hash, plumbing.TreeObject)
		default:
			err = r.reach(e.hash, plumbing.BlobObject)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkReached refuses what no version needs, such as a commit of the source.
func (r *resultReader) checkReached() error {
	for hash, kind := range r.kinds {
		if !r.reached[hash] {
			return fmt.Errorf("%s %s: no version needs it", kind, hash)
		}
	}
	return nil
}
