package vcs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
)

// packed is an object in a pack of the source.
type packed struct {
	hash       plumbing.Hash
	start, end int64
}

// copyPacks copies what is needed out of the packs of the source.
func (b *builder) copyPacks(ctx context.Context, p *packer) error {
	files, err := b.source.files.ReadDir("objects/pack")
	if err != nil {
		return err
	}
	for _, file := range files {
		name, isIndex := strings.CutSuffix(file.Name(), ".idx")
		if !isIndex {
			continue
		}
		if err := b.copyPack(ctx, p, path.Join("objects/pack", name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// copyPack copies what is needed out of one pack, in its order: the base of a delta is before it.
func (b *builder) copyPack(ctx context.Context, p *packer, name string) (err error) {
	file, err := b.source.files.Open(name + ".pack")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	objects, err := b.objectsOf(name, file)
	if err != nil {
		return err
	}
	at := make(map[int64]plumbing.Hash, len(objects))
	for _, one := range objects {
		at[one.start] = one.hash
	}
	var buffer []byte
	for _, one := range objects {
		if _, written := p.places[one.hash]; written || !b.needed[one.hash] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		buffer = slices.Grow(buffer[:0], int(one.end-one.start))[:one.end-one.start]
		if _, err := file.ReadAt(buffer, one.start); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if err := b.copyOne(ctx, p, one, buffer, at); err != nil {
			return fmt.Errorf("object %s: %w", one.hash, err)
		}
	}
	return nil
}

// copyOne copies an object as it is if that means the same in the new pack.
func (b *builder) copyOne(ctx context.Context, p *packer, one packed, raw []byte, at map[int64]plumbing.Hash) error {
	kind, size, length, err := readHead(raw)
	if err != nil {
		return err
	}
	switch kind {
	case plumbing.OFSDeltaObject:
		back, more, err := readDistance(raw[length:])
		if err != nil {
			return err
		}
		if base, written := p.places[at[one.start-back]]; written && back > 0 {
			return p.put(one.hash, packHead(kind, size), distance(p.position-base), raw[length+more:])
		}
	case plumbing.REFDeltaObject:
		if len(raw) < length+len(plumbing.Hash{}) {
			return errors.New("it is broken")
		}
		if base, written := p.places[plumbing.Hash(raw[length:length+20])]; written {
			return p.put(one.hash, packHead(plumbing.OFSDeltaObject, size), distance(p.position-base), raw[length+20:])
		}
	case plumbing.BlobObject, plumbing.TreeObject:
		return p.put(one.hash, raw)
	}
	return b.copyWhole(ctx, p, one.hash)
}

// mostPacked is how long an object in a pack may be.
const mostPacked = 4 << 30

// objectsOf are those of a pack, by their places.
func (b *builder) objectsOf(name string, pack billy.File) ([]packed, error) {
	file, err := b.source.files.Open(name + ".idx")
	if err != nil {
		return nil, err
	}
	index := idxfile.NewMemoryIndex()
	if err := errors.Join(idxfile.NewDecoder(file).Decode(index), file.Close()); err != nil {
		return nil, err
	}
	end, err := pack.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	entries, err := index.EntriesByOffset()
	if err != nil {
		return nil, err
	}
	var objects []packed
	for {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		objects = append(objects, packed{hash: entry.Hash, start: int64(entry.Offset)})
	}
	for i := range objects {
		objects[i].end = end - int64(len(plumbing.Hash{}))
		if i+1 < len(objects) {
			objects[i].end = objects[i+1].start
		}
		if one := objects[i]; one.start < 12 || one.end <= one.start || one.end-one.start > mostPacked {
			return nil, errors.New("its index doesn't fit it")
		}
	}
	return objects, nil
}
