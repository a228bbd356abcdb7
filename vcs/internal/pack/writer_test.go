package pack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// copied makes a pack of some objects of another one, and returns where it is and those that were written anew.
func copied(t *testing.T, from *Pack, wanted func(plumbing.Hash) bool) (path string, anew []plumbing.Hash) {
	t.Helper()
	entries, err := from.Entries()
	require.NoError(t, err)
	r := NewReader(0)
	kind := func(hash plumbing.Hash) (plumbing.ObjectType, bool) {
		at, found, err := from.Find(hash)
		require.NoError(t, err)
		require.True(t, found)
		kind, err := r.Kind(from, at)
		require.NoError(t, err)
		return kind, wanted(hash)
	}
	path = filepath.Join(t.TempDir(), "copy")
	file, err := os.Create(path + ".pack")
	require.NoError(t, err)
	count := 0
	for _, e := range entries {
		if wanted(e.Hash) {
			count++
		}
	}
	w, err := NewWriter(file, count)
	require.NoError(t, err)
	told := 0
	w.Wrote = func(objects int) { told = objects }
	read := func(hash plumbing.Hash) (plumbing.ObjectType, []byte) {
		at, _, _ := from.Find(hash)
		kind, text, err := r.Read(from, at, maxDelta)
		require.NoError(t, err)
		return kind, bytes.Clone(text)
	}
	require.NoError(t, w.Copy(t.Context(), from, Wanted{Kind: kind, Anew: func(hash plumbing.Hash) error {
		anew = append(anew, hash)
		kind, text := read(hash)
		if base, other := read(anew[0]); hash != anew[0] && base == kind && w.MayBeBase(anew[0]) {
			if delta := Diff(other, text); delta != nil {
				return w.Delta(hash, anew[0], delta)
			}
		}
		return w.Whole(hash, kind, int64(len(text)), func(out io.Writer) error { _, err := out.Write(text); return err })
	}}))
	assert.Equal(t, count, told)
	name, err := w.Finish()
	require.NoError(t, err)
	index, err := os.Create(path + ".idx")
	require.NoError(t, err)
	require.NoError(t, errors.Join(w.WriteIndex(index, name), index.Close(), file.Close()))
	return path, anew
}

func TestWriter(t *testing.T) {
	t.Parallel()
	folder := history(t)
	random := rand.New(rand.NewPCG(5, 6))
	for _, repack := range [][]string{{"gc", "-q"}, {"-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq"}} {
		git(t, folder, "", repack...)
		from := opened(t, packOf(t, folder))
		for _, row := range []struct {
			reason string
			wanted func(plumbing.Hash) bool
			anew   bool
		}{
			{"all of it", func(plumbing.Hash) bool { return true }, false},
			{"nothing of it", func(plumbing.Hash) bool { return false }, false},
			{"a part of it", func(hash plumbing.Hash) bool { return hash[5] < 100 }, true},
		} {
			t.Run(row.reason, func(t *testing.T) {
				path, anew := copied(t, from, row.wanted)
				assert.Equal(t, row.anew, len(anew) > 0, "only what is a difference to something else is packed anew")
				ours, err := os.ReadFile(path + ".idx")
				require.NoError(t, err)
				git(t, folder, "", "index-pack", "--strict", "-o", path+".git.idx", path+".pack")
				theirs, err := os.ReadFile(path + ".git.idx")
				require.NoError(t, err)
				assert.True(t, bytes.Equal(ours, theirs), "the index is the one that git makes")
				p := opened(t, path)
				entries, err := p.Entries()
				require.NoError(t, err)
				r := NewReader(random.IntN(1 << 20))
				for _, e := range entries {
					same(t, r, p, e.Hash)
				}
			})
		}
	}
}

func TestCopyRefuses(t *testing.T) {
	t.Parallel()
	blob := raw{name(1), packedHead(plumbing.BlobObject, 3), deflated([]byte("one"))}
	text := delta(3, 3, 3, 'a', 'b', 'c')
	inside := raw{name(2), append(packedHead(plumbing.OFSDeltaObject, int64(len(text))), packedDistance(2)...), deflated(text)}
	all := func(plumbing.Hash) (plumbing.ObjectType, bool) { return plumbing.BlobObject, true }
	try := func(ctx context.Context, p *Pack, kind func(plumbing.Hash) (plumbing.ObjectType, bool)) error {
		w, err := NewWriter(io.Discard, 1)
		require.NoError(t, err)
		return w.Copy(ctx, p, Wanted{Kind: kind, Anew: func(plumbing.Hash) error { return errors.New("anew") }})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	whole := opened(t, byHand(t, blob))
	require.NoError(t, try(t.Context(), whole, all))
	require.ErrorIs(t, try(ctx, whole, all), context.Canceled)
	require.ErrorIs(t, try(t.Context(), opened(t, byHand(t, blob, inside)), all), ErrBroken, "a base in the middle of an object")
	err := try(t.Context(), whole, func(plumbing.Hash) (plumbing.ObjectType, bool) { return plumbing.TreeObject, true })
	require.ErrorContains(t, err, "it is a blob where a tree should be")
	w, err := NewWriter(io.Discard, 2)
	require.NoError(t, err)
	_, err = w.Finish()
	require.ErrorContains(t, err, "0 objects are written, but the header of the pack says 2")
	path := byHand(t, blob)
	content, err := os.ReadFile(path + ".pack")
	require.NoError(t, err)
	content[packHead+3] ^= 1
	require.NoError(t, os.WriteFile(path+".pack", content, 0o600))
	require.ErrorContains(t, try(t.Context(), opened(t, path), all), "isn't the one in its index")
}

// TestCopyOfAChain has a chain that becomes longer than what is read again, since its beginning is packed anew as a difference.
func TestCopyOfAChain(t *testing.T) {
	t.Parallel()
	from := opened(t, byHand(t, chain(maxChain)...))
	path := filepath.Join(t.TempDir(), "copy")
	file, err := os.Create(path + ".pack")
	require.NoError(t, err)
	w, err := NewWriter(file, 2+maxChain)
	require.NoError(t, err)
	text := delta(3, 3, 3, 'a', 'b', 'c')
	one := func(out io.Writer) error { _, err := io.WriteString(out, "two"); return err }
	require.NoError(t, w.Whole(name(2), plumbing.BlobObject, 3, one))
	require.NoError(t, w.Delta(name(3), name(2), text))
	var anew []plumbing.Hash
	require.NoError(t, w.Copy(t.Context(), from, Wanted{
		Kind: func(hash plumbing.Hash) (plumbing.ObjectType, bool) { return plumbing.BlobObject, hash != name(1) },
		Anew: func(hash plumbing.Hash) error {
			if anew = append(anew, hash); len(anew) == 1 {
				return w.Delta(hash, name(3), text)
			}
			return w.Whole(hash, plumbing.BlobObject, 3, one)
		},
	}))
	assert.Len(t, anew, 2)
	sum, err := w.Finish()
	require.NoError(t, err)
	index, err := os.Create(path + ".idx")
	require.NoError(t, err)
	require.NoError(t, errors.Join(w.WriteIndex(index, sum), index.Close(), file.Close()))
	p := opened(t, path)
	entries, err := p.Entries()
	require.NoError(t, err)
	r := NewReader(0)
	for _, e := range entries {
		_, err := r.Kind(p, e.Start)
		require.NoError(t, err)
	}
}

// TestWriteIndex has places that need eight bytes, as packs have them of more than two gigabytes.
func TestWriteIndex(t *testing.T) {
	t.Parallel()
	w, err := NewWriter(io.Discard, 0)
	require.NoError(t, err)
	want := []int64{12, 1<<31 - 1, 1 << 31, 1<<32 + 5, 1 << 40}
	for i, at := range want {
		w.index.Add(name(byte(200-i)), uint64(at), uint32(i))
	}
	path := filepath.Join(t.TempDir(), "pack.idx")
	file, err := os.Create(path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })
	require.NoError(t, w.WriteIndex(file, name(9)))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	shown := git(t, t.TempDir(), string(content), "show-index")
	x, err := openIndex(file)
	require.NoError(t, err)
	for i, at := range want {
		assert.Contains(t, shown, fmt.Sprintf("%d %s (%08x)\n", at, name(byte(200-i)), i), "as git reads it")
		got, found, err := x.find(name(byte(200 - i)))
		require.NoError(t, err)
		assert.Equal(t, []any{at, true}, []any{got, found})
	}
}

func TestHead(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{1, 127, 128, 16511, 16512, 2113663, 2113664, 1 << 40} {
		got, length, err := parseDistance(append(packedDistance(n), 0xff))
		require.NoError(t, err)
		assert.Equal(t, n, got)
		assert.Len(t, packedDistance(n), length)
	}
	for _, size := range []int64{0, 15, 16, 2047, 2048, 1 << 40} {
		kind, got, length, err := parseHead(append(packedHead(3, size), 0xff))
		require.NoError(t, err)
		assert.EqualValues(t, 3, kind)
		assert.Equal(t, size, got)
		assert.Len(t, packedHead(3, size), length)
	}
	for _, text := range [][]byte{nil, {0xff}, bytes.Repeat([]byte{0xff}, 20)} {
		_, _, err := parseDistance(text)
		require.ErrorIs(t, err, ErrBroken)
		_, _, _, err = parseHead(text)
		require.ErrorIs(t, err, ErrBroken)
	}
}

func TestDiff(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	noise := func(n int) []byte {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte(random.Uint32())
		}
		return text
	}
	base := noise(200_000)
	for _, row := range []struct {
		reason string
		text   []byte
		most   int
	}{
		{"the same", base, 50},
		{"something else in the middle", slices.Concat(base[:20_000], []byte("something else"), base[20_010:]), 80},
		{"more at the beginning", slices.Concat([]byte("more"), base), 80},
		{"less at the end", base[:150_001], 60},
		{"another order", slices.Concat(base[100_000:], base[:100_000]), 80},
		{"again and again", slices.Concat(base[:1000], base[:1000], base[:1000]), 80},
		{"an odd part", base[777:4777], 40},
		{"a part that is longer than one order takes", base[:maxCopied+1], 40},
	} {
		delta := Diff(base, row.text)
		assert.NotNil(t, delta, row.reason)
		assert.LessOrEqual(t, len(delta), row.most, row.reason)
		assert.True(t, bytes.Equal(row.text, applied(t, base, delta)), row.reason)
	}
	for reason, text := range map[string][]byte{"nothing in common": noise(50_000), "nothing": nil, "a little": []byte("a")} {
		assert.Nil(t, Diff(base, text), reason)
		assert.Nil(t, Diff(nil, text), reason)
	}
	zeros := make([]byte, 1<<20)
	begun := time.Now()
	assert.NotNil(t, Diff(zeros, append(bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 50_000), zeros...)), "blocks that are all the same")
	assert.Less(t, time.Since(begun), time.Minute)
}

func applied(t *testing.T, base, delta []byte) []byte {
	t.Helper()
	size, err := resultSize(delta)
	require.NoError(t, err)
	out, err := packfile.PatchDelta(base, delta)
	require.NoError(t, err)
	require.Len(t, out, int(size))
	return out
}

// FuzzDiff has a difference make what it was made of.
func FuzzDiff(f *testing.F) {
	f.Add([]byte("some text that is the base of another one"), []byte("some text that is the base of another two, or none"))
	f.Fuzz(func(t *testing.T, base, text []byte) {
		for _, to := range [][]byte{text, slices.Concat(text, base), slices.Concat(base, text, base)} {
			if delta := Diff(base, to); delta != nil {
				require.True(t, bytes.Equal(to, applied(t, base, delta)))
				require.LessOrEqual(t, len(delta), len(to)/2)
			}
		}
	})
}
