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

// writePack writes all objects into one pack in a folder. What the source has as a difference stays one, if its base is needed too: neither is
// unpacked.
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

// writeMade writes an object that the source hasn't, as a difference to the one before if it can be: commits are much the same.
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

// copyOthers writes what no pack of the source has as it is needed.
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
