package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
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

// message is what a frame holds.
type message struct {
	kind messageKind
	// id names a call for its answer and its end; each side numbers its own calls.
	id     uint64
	method string
	// problem is why there is no body, of an answer.
	problem *Problem
	body    Raw
}

// arrayOfFive begins a message.
const arrayOfFive = 0x85

// buffers are those of frames that have been written.
var buffers = sync.Pool{New: func() any { return &bytes.Buffer{} }}

// newFrame is a frame with a message, whose body is encoded right into it.
func newFrame(kind messageKind, id uint64, method string, problem *Problem, body any) (*bytes.Buffer, error) {
	frame, _ := buffers.Get().(*bytes.Buffer)
	frame.Reset()
	frame.Write([]byte{0, 0, 0, 0, arrayOfFive})
	for _, part := range [...]any{uint8(kind), id, method, problem, body} {
		if err := encode(part, frame); err != nil {
			return nil, err
		}
	}
	length := frame.Len() - 4
	if length > longest {
		return nil, fmt.Errorf("a message of %d bytes is too long: at most %d can be sent", length, longest)
	}
	binary.BigEndian.PutUint32(frame.Bytes(), uint32(length))
	return frame, nil
}

// recycle has the buffer of a frame be used again, unless it is an unusually large one.
func recycle(frame *bytes.Buffer) {
	if frame.Cap() <= atOnce {
		buffers.Put(frame)
	}
}

// readFrame reads one frame. io.EOF says that there is no further one.
func readFrame(in io.Reader) (m message, err error) {
	var head [4]byte
	if _, err := io.ReadFull(in, head[:]); err != nil {
		return m, err
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > longest {
		return m, fmt.Errorf("a message of %d bytes is announced: at most %d are read; is something else written to the stream?", length, longest)
	}
	text, err := readAll(in, int(length))
	if err != nil {
		return m, fmt.Errorf("in the middle of a message: %w", err)
	}
	if m, err = parse(text); err != nil {
		return m, fmt.Errorf("what was read is no message: %w", err)
	}
	return m, nil
}

// parse reads a message, whose body stays what text holds of it.
func parse(text []byte) (m message, err error) {
	if len(text) == 0 || text[0] != arrayOfFive {
		return m, errors.New("it isn't an array of five")
	}
	rest := text[1:]
	for _, part := range [...]any{(*uint8)(&m.kind), &m.id, &m.method, &m.problem} {
		if rest, err = decoder.UnmarshalFirst(rest, part); err != nil {
			return m, err
		}
	}
	m.body = rest
	return m, nil
}

// atOnce is how much is made room for before it is there: what a frame announces may never come.
const atOnce = 1 << 20

func readAll(in io.Reader, length int) ([]byte, error) {
	text := make([]byte, min(length, atOnce))
	for read := 0; ; {
		n, err := io.ReadFull(in, text[read:])
		if read += n; err != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
		if read == length {
			return text, nil
		}
		text = append(text, make([]byte, min(length-read, len(text)))...) //nolint:makezero // twice as much each time, as it comes
	}
}

// crowded is how many bytes wait to be written when whoever may wait does.
const crowded = 1 << 20

// outbox holds frames until they are written, in their order, so that nobody who has something to say waits for another side that doesn't read.
type outbox struct {
	mu      sync.Mutex
	changed sync.Cond
	frames  []*bytes.Buffer
	// bytes is how long they are together, those included that are being written.
	bytes  int
	closed bool
}

func newOutbox() *outbox {
	o := &outbox{}
	o.changed.L = &o.mu
	return o
}

// put adds a frame. After close it is lost.
func (o *outbox) put(frame *bytes.Buffer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return
	}
	o.frames = append(o.frames, frame)
	o.bytes += frame.Len()
	o.changed.Broadcast()
}

// room waits until not too much waits to be written.
func (o *outbox) room() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.bytes > crowded && !o.closed {
		o.changed.Wait()
	}
}

// close has nothing more be added.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed.Broadcast()
}

// write writes all frames until close is called and all are written, or one can't be.
func (o *outbox) write(out io.Writer) error {
	var done []*bytes.Buffer
	for {
		frames := o.take(done)
		if len(frames) == 0 {
			return nil
		}
		for _, frame := range frames {
			length := frame.Len()
			if _, err := out.Write(frame.Bytes()); err != nil {
				return err
			}
			recycle(frame)
			o.written(length)
		}
		clear(frames)
		done = frames[:0]
	}
}

// take takes the frames that wait, and leaves room for others.
func (o *outbox) take(room []*bytes.Buffer) []*bytes.Buffer {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.frames) == 0 && !o.closed {
		o.changed.Wait()
	}
	frames := o.frames
	o.frames = room
	return frames
}

func (o *outbox) written(length int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	before := o.bytes
	if o.bytes -= length; before > crowded && o.bytes <= crowded {
		o.changed.Broadcast()
	}
}
