package wire

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// longest is how long a frame may be: what an API server takes at most is 3 MiB, and lists are of many objects.
const longest = 256 << 20

// messageKind says what a message is.
type messageKind uint8

const (
	call messageKind = iota + 1
	answer
	notice
	cancel
)

// message is one frame.
type message struct {
	_    struct{} `cbor:",toarray"`
	Kind messageKind
	// ID names a call for its answer and its end; each side numbers its own calls.
	ID     uint64
	Method string
	// Problem is why there is no Body, of an answer.
	Problem *Problem
	Body    Raw
}

// frames reads and writes messages. Several may write.
type frames struct {
	in *bufio.Reader

	writing sync.Mutex
	out     io.Writer
}

func (f *frames) write(m message) error {
	text, err := Encode(m)
	if err != nil {
		return err
	}
	if len(text) > longest {
		return fmt.Errorf("a message of %d bytes is too long: at most %d can be sent", len(text), longest)
	}
	frame := make([]byte, 4, 4+len(text))
	binary.BigEndian.PutUint32(frame, uint32(len(text)))
	f.writing.Lock()
	defer f.writing.Unlock()
	_, err = f.out.Write(append(frame, text...))
	return err
}

func (f *frames) read() (m message, err error) {
	var head [4]byte
	if _, err := io.ReadFull(f.in, head[:]); err != nil {
		return m, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > longest {
		return m, fmt.Errorf("a message of %d bytes is announced: at most %d are read; is something else written to the stream?", length, longest)
	}
	text, err := readAll(f.in, int(length))
	if err != nil {
		return m, fmt.Errorf("in the middle of a message: %w", err)
	}
	if err := Decode(text, &m); err != nil {
		return m, fmt.Errorf("what was read is no message: %w", err)
	}
	return m, nil
}

// atOnce is how much is made room for before it is there: what a frame announces may never come.
const atOnce = 1 << 20

func readAll(in io.Reader, length int) ([]byte, error) {
	text := make([]byte, min(length, atOnce))
	for read := 0; ; {
		n, err := io.ReadFull(in, text[read:])
		if read += n; err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if read == length {
			return text, nil
		}
		text = append(text, make([]byte, min(length-read, len(text)))...)
	}
}
