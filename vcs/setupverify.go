package vcs

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
)

// verify tells what is wrong with the repository in a folder: an object that isn't what its name says, a version whose tree isn't the source's, a
// reference or an object too many or too few. As objects are named by their content, and trees by what is in them, equal names are equal files.
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
			return fmt.Errorf("what was made isn't as it has to be: %w", err)
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

// verifyRefs compares the references with those that are to be kept.
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

// verifyVersions compares each commit with the one that the source has, and notes all that its tree needs.
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
			err = fmt.Errorf("commit %s: it isn't the one that the source's commit %s makes", commit, kept.Ref.Commit)
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
