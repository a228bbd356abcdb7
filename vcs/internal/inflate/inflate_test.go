package inflate

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func packed(t testing.TB, content []byte, level int) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zlib.NewWriterLevel(&out, level)
	require.NoError(t, err)
	_, err = w.Write(content)
	require.NoError(t, errors.Join(err, w.Close()))
	return append(out.Bytes(), make([]byte, Slack)...)[:out.Len()]
}

func room(size int) []byte { return make([]byte, size, size+Room) }

func TestZlib(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	noise, skewed, words := make([]byte, 60_000), make([]byte, 60_000), []byte(nil)
	for i := range noise {
		noise[i] = byte(random.Uint32())
		skewed[i] = byte(min(random.IntN(256), random.IntN(256), random.IntN(256), random.IntN(256)))
	}
	for len(words) < 60_000 {
		words = append(words, []string{"spec", "template: ", "\n  ", "metadata", "a", "aaaaaaaaaaaaaaaaaaaaaaa", "x"}[random.IntN(7)]...)
	}
	var r Reader
	for reason, content := range map[string][]byte{
		"nothing": nil, "a byte": {7}, "a few": []byte("tree 1234"), "one letter": bytes.Repeat([]byte("a"), 60_000), "noise": noise, "rare letters": skewed, "words": words,
		"more than a window": bytes.Repeat(noise[:40_000], 3),
	} {
		for _, level := range []int{zlib.HuffmanOnly, zlib.NoCompression, zlib.BestSpeed, zlib.DefaultCompression, zlib.BestCompression} {
			in := packed(t, content, level)
			out := room(len(content))
			more := append(bytes.Clone(in), "what follows is another object"...)
			for _, end := range []int{len(in), len(more) - Slack} {
				clear(out)
				require.NoError(t, r.Zlib(out, more[:end]), "%s, level %d", reason, level)
				require.True(t, bytes.Equal(content, out), "%s, level %d", reason, level)
			}
			require.ErrorIs(t, r.Zlib(room(len(content)+1), in), ErrCorrupt, "%s, level %d: it is shorter", reason, level)
			if len(content) > 0 {
				require.ErrorIs(t, r.Zlib(room(len(content)-1), in), ErrCorrupt, "%s, level %d: it is longer", reason, level)
			}
			for range 20 {
				require.ErrorIs(t, r.Zlib(out, in[:random.IntN(len(in))]), ErrCorrupt, "%s, level %d: it is cut off", reason, level)
			}
		}
	}
}

// FuzzZlib compares with compress/zlib, the sum at the end left out.
func FuzzZlib(f *testing.F) {
	for _, text := range []string{"", "a", "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaabaaaaaaaaaaaaaaaaaaaaaaaaaab"} {
		for _, level := range []int{zlib.HuffmanOnly, zlib.NoCompression, zlib.BestSpeed, zlib.BestCompression} {
			f.Add(packed(f, []byte(text), level))
		}
	}
	f.Add([]byte{0x78, 0x9c, 0xed, 0xc0, 0x01, 0x01, 0x00})
	f.Fuzz(func(t *testing.T, in []byte) {
		want, wantErr := reference(in)
		if len(want) > 1<<20 {
			return
		}
		var r Reader
		out := room(len(want))
		err := r.Zlib(out, append(bytes.Clone(in), make([]byte, Slack)...)[:len(in)])
		if wantErr != nil {
			require.Error(t, err, "%v", wantErr)
			return
		}
		require.NoError(t, err)
		require.Equal(t, want, out)
	})
}

// reference is what compress/zlib makes of a stream. A wrong sum isn't an error.
func reference(in []byte) ([]byte, error) {
	r, err := zlib.NewReader(bytes.NewReader(in))
	if err != nil {
		return nil, err
	}
	out, err := io.ReadAll(io.LimitReader(r, 2<<20))
	if errors.Is(err, zlib.ErrChecksum) {
		err = nil
	}
	return append([]byte{}, out...), err
}
