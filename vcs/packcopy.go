package vcs

import (
	"context"
	"io"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/operkit/operkit/vcs/internal/pack"
)

// wanted tells whether an object of the source is needed, and as what: somebody may have made a tree in which a commit stands where a file should.
func (b *builder) wanted(hash plumbing.Hash) (plumbing.ObjectType, bool) {
	if _, is := b.walked[hash]; is {
		return plumbing.TreeObject, true
	}
	return plumbing.BlobObject, b.needed[hash]
}

// copyPacks copies what is needed out of the packs of the source.
func (b *builder) copyPacks(ctx context.Context, w *pack.Writer) error {
	packs, err := b.source.store.all()
	if err != nil {
		return err
	}
	defer b.source.store.done()
	wanted := pack.Wanted{Kind: b.wanted, Anew: func(hash plumbing.Hash) error { return b.copyAnew(ctx, w, hash) }}
	for _, one := range packs {
		if err := w.Copy(ctx, one.Pack, wanted); err != nil {
			return one.named(err)
		}
	}
	return nil
}

// copyAnew unpacks an object and packs it anew: as a difference to another version of it, or as a whole.
func (b *builder) copyAnew(ctx context.Context, w *pack.Writer, hash plumbing.Hash) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	size, err := b.source.length(hash)
	if err != nil {
		return err
	}
	for _, base := range []plumbing.Hash{b.kin.older[hash], b.kin.newer[hash]} {
		if !w.MayBeBase(base) || size > mostDiffed {
			continue
		}
		if done, err := b.copyDelta(w, hash, base); done || err != nil {
			return err
		}
	}
	kind, _ := b.wanted(hash)
	return w.Whole(hash, kind, size, func(out io.Writer) error {
		_, err := b.source.copyTo(out, hash, kind, nil)
		return err
	})
}

// mostDiffed is how long an object may be that is compared with another version of it.
const mostDiffed = 8 << 20

// copyDelta packs an object as a difference to another one, if there is much that they have in common.
func (b *builder) copyDelta(w *pack.Writer, hash, base plumbing.Hash) (done bool, err error) {
	if size, err := b.source.length(base); err != nil || size > mostDiffed {
		return false, err
	}
	from, err := b.source.object(base)
	if err != nil {
		return false, err
	}
	to, err := b.source.object(hash)
	if err != nil {
		return false, err
	}
	if kind, _ := b.wanted(hash); to.kind != kind || from.kind != kind {
		return false, nil // what isn't as it should be is told where it is copied
	}
	delta := pack.Diff(from.text, to.text)
	if delta == nil {
		return false, nil
	}
	return true, w.Delta(hash, base, delta)
}
