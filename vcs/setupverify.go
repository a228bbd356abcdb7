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

// verify returns an error if the repository in a folder is wrong: an object doesn't match its name, a version has
// another tree than in the source, or an object or a reference is missing or superfluous. The name of a tree is a hash
// of its content, so equal names mean equal files.
func (b *builder) verify(ctx context.Context, git string) (err error) {
	r := newResultReader(git, verifyWhole)
	defer func() { err = errors.Join(err, r.storage.Close()) }()
	for _, check := range []func() error{
		func() error { return b.verifyObjects(ctx, r, git) },
		func() error { return b.verifyRefs(r) },
		func() error { return b.verifyVersions(r) },
		r.checkReached,
	} {
		switch err := check(); {
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("the new repository is wrong: %w", err)
		}
	}
	return nil
}

func (b *builder) verifyObjects(ctx context.Context, r *resultReader, git string) error {
	b.progress(Verifying, 0, b.report.Objects)
	pack, err := onePack(git)
	if err != nil {
		return err
	}
	return r.readObjects(ctx, pack, func(done int) { b.progress(Verifying, done, b.report.Objects) })
}

// verifyRefs compares the references with the kept ones.
func (b *builder) verifyRefs(r *resultReader) error {
	wanted := map[plumbing.ReferenceName]string{plumbing.HEAD: string(b.report.Root)}
	for _, kept := range b.report.Kept {
		wanted[plumbing.ReferenceName(kept.Full)] = string(kept.Commit)
	}
	all, err := r.storage.IterReferences()
	if err != nil {
		return err
	}
	defer all.Close()
	err = all.ForEach(func(one *plumbing.Reference) error {
		want, is := wanted[one.Name()]
		if !is || one.Type() != plumbing.HashReference || one.Hash().String() != want {
			return fmt.Errorf("reference %s: it is %s and should be %q", one.Name(), one.Hash(), want)
		}
		delete(wanted, one.Name())
		return nil
	})
	for name := range wanted {
		return errors.Join(err, fmt.Errorf("reference %s: it is missing", name))
	}
	return err
}

// verifyVersions compares each commit with the source, and marks everything in its tree as reached.
func (b *builder) verifyVersions(r *resultReader) error {
	root := plumbing.NewHash(string(b.report.Root))
	if !bytes.Equal(r.commits[root], rootText()) {
		return fmt.Errorf("commit %s: it isn't the root", root)
	}
	r.reached[root] = true
	if err := r.reach(emptyTree, plumbing.TreeObject); err != nil {
		return err
	}
	for _, kept := range b.report.Kept {
		commit := plumbing.NewHash(string(kept.Commit))
		source, err := b.source.commit(kept.Ref.Commit)
		if err == nil && !bytes.Equal(r.commits[commit], commitText(source.tree, root, source.authored, source.committed, kept.Name)) {
			err = fmt.Errorf("commit %s: it isn't the commit made from the source's commit %s", commit, kept.Ref.Commit)
		}
		if err == nil {
			r.reached[commit] = true
			err = r.reach(source.tree, plumbing.TreeObject)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", kept.Full, err)
		}
	}
	return nil
}

const (
	// verifyCache limits the cache for the bases of deltas.
	verifyCache = 32 * cache.MiByte
	// verifyWhole is the maximum length of an object that is unpacked in memory, in bytes. go-git streams longer
	// objects, but slowly.
	verifyWhole = 512 << 20
)

// resultReader reads the result of Setup with go-git and no other code, so that it can't share a mistake with the code
// that wrote the result.
type resultReader struct {
	storage *filesystem.Storage
	// kinds has the kinds of all objects. trees and commits have the content of trees and commits.
	kinds   map[plumbing.Hash]plumbing.ObjectType
	trees   map[plumbing.Hash][]entry
	commits map[plumbing.Hash][]byte
	// reached are the objects that the references need.
	reached map[plumbing.Hash]bool
}

// newResultReader returns a reader. It streams objects that are longer than whole bytes.
func newResultReader(git string, whole int64) *resultReader {
	options := filesystem.Options{KeepDescriptors: true, LargeObjectThreshold: whole}
	return &resultReader{
		storage: filesystem.NewStorageWithOptions(osfs.New(git, osfs.WithBoundOS()), cache.NewObjectLRU(verifyCache), options),
		kinds:   map[plumbing.Hash]plumbing.ObjectType{}, trees: map[plumbing.Hash][]entry{}, commits: map[plumbing.Hash][]byte{}, reached: map[plumbing.Hash]bool{},
	}
}

// onePack returns the path of the only pack of a repository, without the extension. It returns an error if there are
// other objects, or if the checksum of the pack or its index is wrong.
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
		return "", fmt.Errorf("its objects aren't in exactly one pack: %v", names)
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
		return fmt.Errorf("%s: its checksum is wrong", filepath.Base(path))
	}
	return nil
}

// readObjects reads all objects of a pack in their order, and checks that each matches its name.
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
		return refused(errors.New("its content doesn't match its name"))
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

// reach marks an object and everything below it as reached. It returns an error if an object is missing or of the wrong
// kind.
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

// checkReached refuses objects that no version needs, such as a commit of the source.
func (r *resultReader) checkReached() error {
	for hash, kind := range r.kinds {
		if !r.reached[hash] {
			return fmt.Errorf("%s %s: no version needs it", kind, hash)
		}
	}
	return nil
}
