package pack

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// longText is how long a file is that is streamed.
const longText = 4<<20 + 1

// history makes a repository with objects of all kinds: files that change a little, one that is long, one that can't be packed, an empty one.
func history(t testing.TB) string {
	t.Helper()
	folder := t.TempDir()
	git(t, folder, "", "init", "-q", "-b", "main")
	random := rand.New(rand.NewPCG(3, 4))
	noise := make([]byte, 100_000)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	lines := make([]string, 500)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d of %d", i, random.IntN(1_000_000))
	}
	long := bytes.Repeat([]byte("a long file that is streamed\n"), longText/25)
	for version := range 20 {
		for range 5 {
			lines[random.IntN(len(lines))] = fmt.Sprint("changed ", random.Uint64())
		}
		for path, text := range map[string][]byte{"lines": []byte(strings.Join(lines, "\n")), "noise": noise, "empty": nil, "long": long, fmt.Sprint("some/", version): []byte("x")} {
			require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, path)), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(folder, path), text, 0o600))
		}
		git(t, folder, "", "add", "-A")
		git(t, folder, "", "commit", "-q", "-m", fmt.Sprint("version ", version))
	}
	git(t, folder, "", "tag", "-a", "-m", "a tag", "v1")
	return folder
}

// packOf is the only pack of a repository.
func packOf(t testing.TB, folder string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, ".git", "objects", "pack", "*.pack"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	return strings.TrimSuffix(found[0], ".pack")
}

func TestReader(t *testing.T) {
	t.Parallel()
	folder := history(t)
	for _, row := range []struct {
		reason string
		repack []string
	}{
		{"as git gc packs", []string{"gc", "-q"}},
		{"differences to objects by their names", []string{"-c", "repack.useDeltaBaseOffset=false", "repack", "-adfq"}},
		{"long chains", []string{"repack", "-adfq", "--depth=200", "--window=50"}},
		{"nothing is packed", []string{"-c", "core.compression=0", "repack", "-adFq"}},
		{"places of eight bytes", []string{"index-pack", "--index-version=2,0x40"}},
	} {
		t.Run(row.reason, func(t *testing.T) {
			path := ""
			if row.repack[0] == "index-pack" {
				path = packOf(t, folder)
				require.NoError(t, os.Remove(path+".idx"))
				git(t, folder, "", append(row.repack, path+".pack")...)
			} else {
				git(t, folder, "", row.repack...)
				path = packOf(t, folder)
			}
			p := opened(t, path)
			entries, err := p.Entries()
			require.NoError(t, err)
			for _, cached := range []int{0, 100_000, 64 << 20} {
				r := NewReader(cached)
				for _, e := range entries {
					if size, err := r.Size(p, e.Start); cached == 0 || err != nil || size < longText {
						same(t, r, p, e.Hash)
					}
				}
			}
		})
	}
}

// same reads an object in all ways, and compares it with its name.
func same(t *testing.T, r *Reader, p *Pack, hash plumbing.Hash) {
	t.Helper()
	at, found, err := p.Find(hash)
	require.NoError(t, err)
	require.True(t, found)
	kind, text, err := r.Read(p, at, maxDelta)
	require.NoError(t, err, hash)
	require.Equal(t, hash, plumbing.ComputeHash(kind, text))
	_, _, err = r.Read(p, at, int64(len(text))-1)
	require.ErrorIs(t, err, ErrTooLarge)
	again, err := r.Kind(p, at)
	require.NoError(t, err)
	require.Equal(t, kind, again)
	size, err := r.Size(p, at)
	require.NoError(t, err)
	kind, length, _, err := r.Open(p, at, 1<<40)
	require.NoError(t, err)
	require.Equal(t, []any{again, size}, []any{kind, length})
	_, _, _, err = r.Open(p, at, size-1)
	require.ErrorIs(t, err, ErrTooLarge)
	kind, _, content, err := r.Open(p, at, size)
	require.NoError(t, err)
	whole, err := io.ReadAll(content)
	require.NoError(t, err)
	require.Equal(t, hash, plumbing.ComputeHash(kind, whole))
}

func TestFind(t *testing.T) {
	t.Parallel()
	folder := history(t)
	git(t, folder, "", "gc", "-q")
	p := opened(t, packOf(t, folder))
	_, found, err := p.Find(plumbing.NewHash("0123456789012345678901234567890123456789"))
	require.NoError(t, err)
	assert.False(t, found)
	all := strings.Fields(git(t, folder, "", "cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
	for _, want := range all {
		_, found, err := p.Find(plumbing.NewHash(want))
		require.NoError(t, err)
		assert.True(t, found)
		for _, digits := range []int{2, 7, 40} {
			hashes, err := p.WithPrefix(want[:digits])
			require.NoError(t, err)
			count := 0
			for _, other := range all {
				if strings.HasPrefix(other, want[:digits]) {
					count++
				}
			}
			assert.Len(t, hashes, count)
		}
	}
	entries, err := p.Entries()
	require.NoError(t, err)
	assert.Len(t, entries, len(all))
}

// delta is a difference made by hand.
func delta(base, result int64, ops ...byte) []byte {
	size := func(n int64) (text []byte) {
		for ; n >= 0x80; n >>= 7 {
			text = append(text, byte(n)|0x80)
		}
		return append(text, byte(n))
	}
	return append(append(size(base), size(result)...), ops...)
}

func TestBroken(t *testing.T) {
	t.Parallel()
	blob := raw{name(1), packedHead(plumbing.BlobObject, 3), deflated([]byte("one"))}
	to := func(distance int64, text []byte) raw {
		return raw{name(2), append(packedHead(plumbing.OFSDeltaObject, int64(len(text))), packedDistance(distance)...), deflated(text)}
	}
	back := int64(len(blob.head) + len(blob.body))
	byName := func(own, base byte) raw {
		text := delta(3, 3, 3, 'a', 'b', 'c')
		base20 := name(base)
		return raw{name(own), append(packedHead(plumbing.REFDeltaObject, int64(len(text))), base20[:]...), deflated(text)}
	}
	for _, row := range []struct {
		reason  string
		objects []raw
		want    error
	}{
		{"a difference that is none: it is whole", []raw{blob, to(back, delta(3, 3, 3, 'a', 'b', 'c'))}, nil},
		{"a base by its name, later in the pack", []raw{byName(2, 1), blob}, nil},
		{"a base of another length", []raw{blob, to(back, delta(4, 3, 3, 'a', 'b', 'c'))}, ErrBroken},
		{"more than it says", []raw{blob, to(back, delta(3, 2, 3, 'a', 'b', 'c'))}, ErrBroken},
		{"less than it says", []raw{blob, to(back, delta(3, 4, 3, 'a', 'b', 'c'))}, ErrBroken},
		{"a part behind the end of the base", []raw{blob, to(back, delta(3, 3, 0x91, 1, 3))}, ErrBroken},
		{"a part far behind the end of the base", []raw{blob, to(back, delta(3, 3, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff))}, ErrBroken},
		{"a part two gigabytes behind the end of the base, which is before its beginning for 32 bits", []raw{blob, to(back, delta(3, 3, 0x98, 0x80, 3))}, ErrBroken},
		{"a part that is cut off", []raw{blob, to(back, delta(3, 3, 0x91, 1))}, ErrBroken},
		{"what is new is cut off", []raw{blob, to(back, delta(3, 3, 3, 'a'))}, ErrBroken},
		{"an order that there isn't", []raw{blob, to(back, delta(3, 3, 0))}, ErrBroken},
		{"sizes that are cut off", []raw{blob, to(back, []byte{0x80})}, ErrBroken},
		{"sizes without an end", []raw{blob, to(back, bytes.Repeat([]byte{0x80}, 30))}, ErrBroken},
		{"a result that fills memory", []raw{blob, to(back, delta(3, 1<<40, 0x91, 0, 3))}, ErrTooLarge},
		{"a base at the beginning of the pack", []raw{blob, to(back+12, delta(3, 3, 3, 'a', 'b', 'c'))}, ErrBroken},
		{"a base before the pack", []raw{blob, to(1<<30, delta(3, 3, 3, 'a', 'b', 'c'))}, ErrBroken},
		{"a base in the middle of an object", []raw{blob, to(back-2, delta(3, 3, 3, 'a', 'b', 'c'))}, ErrBroken},
		{"itself as the base", []raw{blob, byName(2, 2)}, ErrBroken},
		{"each other as the base", []raw{byName(2, 3), byName(3, 2)}, ErrBroken},
		{"a base that isn't there", []raw{blob, byName(2, 9)}, ErrBroken},
		{"a kind that there isn't", []raw{{name(2), packedHead(5, 3), deflated([]byte("one"))}}, ErrBroken},
		{"no kind", []raw{{name(2), packedHead(0, 3), deflated([]byte("one"))}}, ErrBroken},
		{"a head without an end", []raw{{name(2), bytes.Repeat([]byte{0xff}, 30), nil}}, ErrBroken},
		{"a length that fills memory", []raw{{name(2), packedHead(plumbing.BlobObject, 1<<40), deflated([]byte("one"))}}, ErrBroken},
		{"longer than it says", []raw{{name(2), packedHead(plumbing.BlobObject, 2), deflated([]byte("one"))}}, ErrBroken},
		{"shorter than it says", []raw{{name(2), packedHead(plumbing.BlobObject, 4), deflated([]byte("one"))}}, ErrBroken},
		{"nothing that is packed", []raw{{name(2), packedHead(plumbing.BlobObject, 3), []byte("one two three four five")}}, ErrBroken},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			p := opened(t, byHand(t, row.objects...))
			at, found, err := p.Find(name(2))
			require.NoError(t, err)
			require.True(t, found)
			_, text, err := NewReader(1<<20).Read(p, at, 1<<20)
			if row.want == nil {
				require.NoError(t, err)
				assert.Equal(t, "abc", string(text))
				return
			}
			require.ErrorIs(t, err, row.want)
		})
	}
}

// chain is a blob and differences that follow each other, each in what its place makes of it.
func chain(length int) []raw {
	objects := []raw{{name(1), packedHead(plumbing.BlobObject, 3), deflated([]byte("one"))}}
	text := delta(3, 3, 3, 'a', 'b', 'c')
	body := deflated(text)
	for i := range length {
		before := objects[i]
		head := append(packedHead(plumbing.OFSDeltaObject, int64(len(text))), packedDistance(int64(len(before.head)+len(before.body)))...)
		objects = append(objects, raw{plumbing.Hash{byte(i >> 8), byte(i), 9}, head, body})
	}
	return objects
}

func TestChain(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		reason string
		length int
		want   error
	}{
		{"as long as git makes it", maxChain, nil},
		{"longer, as somebody makes it who wants to see others wait", maxChain + 1, ErrBroken},
	} {
		p := opened(t, byHand(t, chain(row.length)...))
		entries, err := p.Entries()
		require.NoError(t, err)
		last := entries[row.length].Start
		r := NewReader(0)
		kind, err := r.Kind(p, last)
		require.ErrorIs(t, err, row.want, row.reason)
		readKind, text, err := r.Read(p, last, 100)
		require.ErrorIs(t, err, row.want, row.reason)
		if row.want == nil {
			assert.Equal(t, []any{plumbing.BlobObject, plumbing.BlobObject, "abc"}, []any{kind, readKind, string(text)}, row.reason)
		}
	}
}

// TestLong has differences that are longer than what is unpacked in memory, or make what is. They are told before any memory is taken.
func TestLong(t *testing.T) {
	t.Parallel()
	const long = maxDelta + 1
	blob := raw{name(1), packedHead(plumbing.BlobObject, 3), deflated([]byte("one"))}
	filler := make([]byte, long/maxDeflated+100) // no content takes less
	to := func(base raw, size int64, body []byte) raw {
		return raw{name(2), append(packedHead(plumbing.OFSDeltaObject, size), packedDistance(int64(len(base.head)+len(base.body)))...), body}
	}
	result := delta(3, long, 0x91, 0, 3)
	endless := raw{name(1), packedHead(plumbing.BlobObject, long), filler}
	short := delta(long, 3, 0x91, 0, 3)
	for _, row := range []struct {
		reason  string
		objects []raw
		most    int64
		want    error
	}{
		{"what it makes", []raw{blob, to(blob, int64(len(result)), deflated(result))}, 1 << 40, errLongDelta},
		{"what it makes, and that is longer than somebody wants", []raw{blob, to(blob, int64(len(result)), deflated(result))}, long - 1, ErrTooLarge},
		{"what it is made of", []raw{endless, to(endless, int64(len(short)), deflated(short))}, 1 << 40, errLongDelta},
		{"itself", []raw{blob, to(blob, long, filler)}, 1 << 40, errLongDelta},
	} {
		p := opened(t, byHand(t, row.objects...))
		at, _, err := p.Find(name(2))
		require.NoError(t, err)
		_, _, _, err = NewReader(0).Open(p, at, row.most)
		require.ErrorIs(t, err, row.want, row.reason)
	}
}

// TestSlow unpacks what takes more room than it has to: an empty block before anything, as a program makes that sends each word at once.
func TestSlow(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("abcdefghijklmnopqrstuvwxyz", 77)[:2000]
	slow := func(text string) []byte {
		body := []byte{0x78, 0x01}
		for range 100 {
			body = append(body, 0, 0, 0, 0xff, 0xff)
		}
		for i := range len(text) {
			body = append(body, 0, 1, 0, 0xfe, 0xff, text[i], 0, 0, 0, 0xff, 0xff)
		}
		sum := deflated([]byte(text))
		return append(append(body, 1, 0, 0, 0xff, 0xff), sum[len(sum)-4:]...)
	}
	for _, row := range []struct {
		reason string
		size   int64
		body   []byte
		want   error
	}{
		{"words", 2000, slow(words), nil},
		{"nothing", 0, slow(""), nil},
		{"shorter than it says", 2001, slow(words), ErrBroken},
		{"longer than it says", 1999, slow(words), ErrBroken},
		{"more than nothing", 0, slow(words), ErrBroken},
		{"a wrong sum", 2000, append(slow(words)[:len(slow(words))-1], 0), ErrBroken},
		{"without an end", 2000, slow(words)[:len(slow(words))-9], ErrBroken},
	} {
		p := opened(t, byHand(t, raw{name(2), packedHead(plumbing.BlobObject, row.size), row.body}, raw{name(3), packedHead(plumbing.BlobObject, 9000), make([]byte, 9000)}))
		_, text, err := NewReader(0).Read(p, packHead, 1<<20)
		require.ErrorIs(t, err, row.want, row.reason)
		if row.want == nil {
			assert.Equal(t, words[:row.size], string(text), row.reason)
		}
	}
}

// TestStream reads what is long and broken.
func TestStream(t *testing.T) {
	t.Parallel()
	body := deflated(make([]byte, longText))
	for reason, body := range map[string][]byte{
		"nothing that is packed": make([]byte, len(body)), "cut off": body[:len(body)/2], "broken in the middle": slices.Concat(body[:1000], bytes.Repeat([]byte{0xff}, 100), body[1100:]),
	} {
		p := opened(t, byHand(t, raw{name(2), packedHead(plumbing.BlobObject, longText), body}))
		_, _, text, err := NewReader(0).Open(p, packHead, 1<<40)
		if err == nil {
			_, err = io.Copy(io.Discard, text)
		}
		require.ErrorIs(t, err, ErrBroken, reason)
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	put := func(c *cache, at, size int) {
		c.put(place{at: int64(at)}, content{plumbing.TreeObject, make([]byte, size)})
	}
	none := cache{}
	put(&none, 1, 0)
	assert.Empty(t, none.young, "a reader that is to keep nothing keeps nothing, not even what is empty")
	c := cache{limit: 1 << 20}
	put(&c, 1, 1<<17)
	_, found := c.get(place{at: 1})
	assert.False(t, found, "what would be a good part of all")
	for i := range 100_000 {
		put(&c, i, 1)
		_, found := c.get(place{})
		assert.True(t, found, "what is asked for again and again stays")
	}
	assert.LessOrEqual(t, (len(c.young)+len(c.old))*(1+overhead), c.limit, "what is short takes room, too")
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	blob := raw{name(1), packedHead(plumbing.BlobObject, 3), deflated([]byte("one"))}
	for _, row := range []struct {
		reason string
		file   string
		change func(content []byte) []byte
		want   string
	}{
		{"an empty pack", ".pack", func([]byte) []byte { return nil }, "too short"},
		{"a pack that is cut off", ".pack", func(c []byte) []byte { return c[:len(c)-1] }, "belongs to another pack"},
		{"a pack that is no pack", ".pack", func(c []byte) []byte { c[0] = 'X'; return c }, "version 2 or 3"},
		{"a pack of a version to come", ".pack", func(c []byte) []byte { c[7] = 4; return c }, "version 2 or 3"},
		{"a pack with another number of objects", ".pack", func(c []byte) []byte { c[11] = 9; return c }, "it has 9 objects, but its index has 1"},
		{"a pack of another name", ".pack", func(c []byte) []byte { c[len(c)-1] ^= 1; return c }, "belongs to another pack"},
		{"an empty index", ".idx", func([]byte) []byte { return nil }, "isn't an index"},
		{"an index of the first kind", ".idx", func(c []byte) []byte { return c[8:] }, "has version 1"},
		{"an index of a version to come", ".idx", func(c []byte) []byte { c[7] = 3; return c }, "version 3"},
		{"an index out of order", ".idx", func(c []byte) []byte { c[8] = 1; return c }, "out of order"},
		{"an index that is cut off", ".idx", func(c []byte) []byte { return c[:len(c)-8] }, "the length of its index is wrong"},
		{"an index with more", ".idx", func(c []byte) []byte { return append(c, 0) }, "the length of its index is wrong"},
		{"an index of very many", ".idx", func(c []byte) []byte { c[8+255*4] = 0xff; return c }, "the length of its index is wrong"},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			path := byHand(t, blob)
			content, err := os.ReadFile(path + row.file)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(path+row.file, row.change(content), 0o600))
			_, err = open(path)
			require.ErrorIs(t, err, ErrBroken)
			require.ErrorContains(t, err, row.want)
		})
	}
	for _, row := range []struct {
		reason string
		change func(index []byte)
	}{
		{"a place of eight bytes that isn't there", func(index []byte) { index[indexHead+24] = 0x80 }},
		{"a place behind the end", func(index []byte) { index[indexHead+26] = 0x7f }},
		{"a place at the beginning", func(index []byte) { index[indexHead+27] = 3 }},
	} {
		t.Run(row.reason, func(t *testing.T) {
			t.Parallel()
			path := byHand(t, blob)
			index, err := os.ReadFile(path + ".idx")
			require.NoError(t, err)
			row.change(index)
			require.NoError(t, os.WriteFile(path+".idx", index, 0o600))
			p := opened(t, path)
			_, err = p.Entries()
			require.ErrorIs(t, err, ErrBroken)
			at, _, err := p.Find(name(1))
			if err == nil {
				_, _, err = NewReader(0).Read(p, at, 100)
			}
			require.ErrorIs(t, err, ErrBroken)
		})
	}
}

// FuzzReader reads what isn't a pack as one: whatever comes, it is content or an error.
func FuzzReader(f *testing.F) {
	blob := raw{name(1), packedHead(plumbing.BlobObject, 3), deflated([]byte("one"))}
	text := delta(3, 3, 3, 'a', 'b', 'c')
	for _, objects := range [][]raw{{blob}, {blob, {name(2), append(packedHead(plumbing.OFSDeltaObject, int64(len(text))), packedDistance(int64(len(blob.head)+len(blob.body)))...), deflated(text)}}} {
		content, err := os.ReadFile(byHand(f, objects...) + ".pack")
		require.NoError(f, err)
		f.Add(content[packHead:], uint16(packHead))
	}
	f.Fuzz(func(t *testing.T, body []byte, at uint16) {
		p := opened(t, byHand(t, raw{name(1), nil, body}))
		r := NewReader(10_000)
		_, _, readErr := r.Read(p, int64(at), 1<<20)
		_, size, content, err := r.Open(p, int64(at), 1<<40)
		if err == nil {
			n, copyErr := io.Copy(io.Discard, io.LimitReader(content, 1<<20))
			if size <= 1<<20 && readErr == nil {
				assert.Equal(t, size, n)
				assert.NoError(t, copyErr)
			}
		}
		_, _ = r.Kind(p, int64(at))
		_, _ = r.Size(p, int64(at))
	})
}
