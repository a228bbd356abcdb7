package vcs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/operkit/operkit/vcs/internal/pack"
)

// writePack writes all objects into one pack in a folder. A delta of the source is copied without unpacking it if its
// base is needed, too.
func (b *builder) writePack(ctx context.Context, folder string) (err error) {
	file, err := os.CreateTemp(folder, "tmp_pack_")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w, err := pack.NewWriter(file, b.report.Objects)
	if err != nil {
		return err
	}
	b.progress(Packing, 0, b.report.Objects)
	w.Wrote = func(objects int) { b.progress(Packing, objects, b.report.Objects) }
	for i := range b.made {
		if err := b.writeMade(w, i); err != nil {
			return err
		}
	}
	if err := b.copyPacks(ctx, w); err != nil {
		return err
	}
	if err := b.copyOthers(ctx, w); err != nil {
		return err
	}
	name, err := w.Finish()
	if err != nil {
		return err
	}
	b.report.Bytes = w.Position()
	if err := errors.Join(file.Sync(), file.Chmod(0o444)); err != nil {
		return err
	}
	path := filepath.Join(folder, "pack-"+name.String())
	if err := os.Rename(file.Name(), path+".pack"); err != nil {
		return err
	}
	return writeIndexOf(path+".idx", w, name)
}

// writeMade writes a new object, if possible as a delta to the previous object, because the commits are similar.
func (b *builder) writeMade(w *pack.Writer, i int) error {
	one := b.made[i]
	if before := b.made[max(i-1, 0)]; before.kind == one.kind && w.MayBeBase(before.hash) {
		if delta := pack.Diff(before.content, one.content); delta != nil {
			return w.Delta(one.hash, before.hash, delta)
		}
	}
	return w.Whole(one.hash, one.kind, int64(len(one.content)), func(out io.Writer) error {
		_, err := out.Write(one.content)
		return err
	})
}

func writeIndexOf(path string, w *pack.Writer, name plumbing.Hash) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o444)
	if err != nil {
		return err
	}
	return errors.Join(w.WriteIndex(file, name), file.Sync(), file.Close())
}

// copyOthers writes the needed objects that copyPacks hasn't written.
func (b *builder) copyOthers(ctx context.Context, w *pack.Writer) error {
	for _, hash := range b.kin.order {
		if w.Has(hash) || !b.needed[hash] {
			continue
		}
		if err := b.copyAnew(ctx, w, hash); err != nil {
			return fmt.Errorf("object %s: %w", hash, err)
		}
	}
	return nil
}

// wanted returns the kind that an object of the source must have, and whether it is needed. In a hostile repository the
// object may be of another kind.
func (b *builder) wanted(hash plumbing.Hash) (plumbing.ObjectType, bool) {
	if _, is := b.walked[hash]; is {
		return plumbing.TreeObject, true
	}
	return plumbing.BlobObject, b.needed[hash]
}

// copyPacks copies the needed objects out of the packs of the source.
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

// copyAnew unpacks an object and packs it again, as a delta to its kin or as a whole.
func (b *builder) copyAnew(ctx context.Context, w *pack.Writer, hash plumbing.Hash) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	size, err := b.source.length(hash)
	if err != nil {
		return err
	}
	for _, base := range []plumbing.Hash{b.kin.older[hash], b.kin.newer[hash]} {
		if !w.MayBeBase(base) || size > maxDiffed {
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

// maxDiffed limits new deltas: the object and its base may each be at most this many bytes long.
const maxDiffed = 8 << 20

// copyDelta packs an object as a delta to base if they have much in common. done reports whether it did.
func (b *builder) copyDelta(w *pack.Writer, hash, base plumbing.Hash) (done bool, err error) {
	if size, err := b.source.length(base); err != nil || size > maxDiffed {
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
		return false, nil // copyTo reports the wrong kind
	}
	delta := pack.Diff(from.text, to.text)
	if delta == nil {
		return false, nil
	}
	return true, w.Delta(hash, base, delta)
}
