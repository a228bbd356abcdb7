package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// framed is a text as a frame.
func framed(text []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
}

// A message is what PROTOCOL.md says: those who write another side go by that.
func TestFrameOnTheWire(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct {
		kind    messageKind
		id      uint64
		method  string
		problem *Problem
		body    any
		want    string
	}{
		"a call":           {call, 7, "hello", nil, []any{int64(1), "x", nil, true}, "00000010" + "85 01 07 65 68656c6c6f f6 84 01 61 78 f6 f5"},
		"an answer":        {answer, 300, "", nil, map[string]any{}, "00000008" + "85 02 19012c 60 f6 a0"},
		"a problem":        {answer, 1, "", &Problem{Text: "no", Class: "operator"}, nil, "00000014" + "85 02 01 60 a2 01 62 6e6f 02 68 6f70657261746f72 f6"},
		"a notice":         {notice, 0, "release", nil, "id", "0000000f" + "85 03 00 67 72656c65617365 f6 62 6964"},
		"a call cancelled": {cancel, 7, "", nil, nil, "00000006" + "85 04 07 60 f6 f6"},
	} {
		frame, err := newFrame(row.kind, row.id, row.method, row.problem, row.body)
		require.NoError(t, err, reason)
		assert.Equal(t, strings.ReplaceAll(row.want, " ", ""), hex.EncodeToString(frame.Bytes()), reason)
		m, err := readFrame(frame)
		require.NoError(t, err, reason)
		assert.Equal(t, row.kind, m.kind, reason)
		assert.Equal(t, row.id, m.id, reason)
		assert.Equal(t, row.method, m.method, reason)
		assert.Equal(t, row.problem, m.problem, reason)
	}
}

// What isn't a frame is an error that says what to look for, and none of it is believed.
func TestFramesThatAreNone(t *testing.T) {
	t.Parallel()
	for reason, row := range map[string]struct{ stream, wrong string }{
		"nothing":                                {"", "EOF"},
		"half a length":                          {"\x00\x00", "unexpected EOF"},
		"a length and nothing":                   {"\x00\x00\x00\x05", "the stream ended in the middle of a message: unexpected EOF"},
		"half a message":                         {"\x00\x00\x00\x05\x85\x01", "the stream ended in the middle of a message: unexpected EOF"},
		"a line that somebody prints":            {"starting up\n", "is something else written to the stream?"},
		"an empty message":                       {string(framed(nil)), "it doesn't begin as an array of five elements"},
		"no array":                               {string(framed([]byte{0x01})), "it doesn't begin as an array of five elements"},
		"an array of four":                       {string(framed([]byte{0x84, 1, 7, 0x60, 0xf6})), "it doesn't begin as an array of five elements"},
		"an array that ends early":               {string(framed([]byte{0x85, 1, 7})), "EOF"},
		"a kind that is a text":                  {string(framed([]byte{0x85, 0x61, 'x', 7, 0x60, 0xf6, 0xf6})), "not a message"},
		"a kind that is too large":               {string(framed([]byte{0x85, 0x19, 1, 1, 7, 0x60, 0xf6, 0xf6})), "not a message"},
		"a negative number":                      {string(framed([]byte{0x85, 1, 0x20, 0x60, 0xf6, 0xf6})), "not a message"},
		"a text of indefinite length":            {string(framed([]byte{0x85, 1, 7, 0x7f, 0x61, 'x', 0xff, 0xf6, 0xf6})), "not a message"},
		"a text that is longer than the message": {string(framed([]byte{0x85, 1, 7, 0x7a, 0x7f, 0xff, 0xff, 0xff})), "not a message"},
	} {
		_, err := readFrame(strings.NewReader(row.stream))
		require.ErrorContains(t, err, row.wrong, reason)
	}
	_, err := readFrame(strings.NewReader(""))
	assert.Equal(t, io.EOF, err, "the end between two messages is told from all others")
}

// A frame may announce more than will ever come: room is made for what is there.
// It isn't parallel: what is allocated is counted for the whole process.
func TestFrameThatAnnouncesTooMuch(t *testing.T) {
	read := func(length uint32, text string) (err error, allocated uint64) {
		stream := io.MultiReader(bytes.NewReader(binary.BigEndian.AppendUint32(nil, length)), strings.NewReader(text))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = readFrame(stream)
		runtime.ReadMemStats(&after)
		return err, after.TotalAlloc - before.TotalAlloc
	}
	err, allocated := read(longest, "only this")
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Less(t, allocated, uint64(16<<20), "of 256 MiB")
	err, _ = read(longest+1, "")
	require.ErrorContains(t, err, "a message of 268435457 bytes is announced: at most 268435456 are read")
	err, allocated = read(longest, strings.Repeat("x", 3<<20))
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Less(t, allocated, uint64(32<<20), "what comes is kept, and no more than twice as much made room for")
}

func TestMessagesThatCantBeSent(t *testing.T) {
	t.Parallel()
	_, err := newFrame(call, 1, "x", nil, make(chan int))
	require.ErrorContains(t, err, "chan int")
	_, err = newFrame(call, 1, "x", nil, strings.Repeat("x", longest))
	require.ErrorContains(t, err, "is too long: at most 268435456 can be sent")
}

// Long messages come in pieces, as pipes have them.
func TestLongFrames(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("0123456789", 1<<19) // more than is read at once
	frame, err := newFrame(notice, 0, "x", nil, text)
	require.NoError(t, err)
	in, out := io.Pipe()
	written := make(chan error, 1)
	go func() {
		var err error
		for rest := frame.Bytes(); len(rest) > 0 && err == nil; {
			var n int
			n, err = out.Write(rest[:min(len(rest), 70_001)])
			rest = rest[n:]
		}
		written <- errors.Join(err, out.Close())
	}()
	m, err := readFrame(in)
	require.NoError(t, err)
	var got string
	require.NoError(t, Decode(m.body, &got))
	assert.Equal(t, text, got)
	require.NoError(t, <-written)
}
