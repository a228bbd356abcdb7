package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"
)

// longest bounds the length of a frame: an API server accepts objects of at most 3 MiB, and lists have many objects.
const longest = 256 << 20

// messageKind is the kind of a message.
type messageKind uint8

const (
	call messageKind = iota + 1
	answer
	notice
	cancel
)

// message is the content of a frame.
type message struct {
	kind messageKind
	// id is the number of a call. An answer or a cancellation has the number of its call. Each side numbers its own
	// calls.
	id     uint64
	method string
	// problem is the error of an answer, which then has no body.
	problem *Problem
	body    Raw
}

// arrayOfFive begins a message.
const arrayOfFive = 0x85

// buffers holds buffers of written frames for reuse.
var buffers = sync.Pool{New: func() any { return &bytes.Buffer{} }}

// newFrame returns a frame with a message, whose body is encoded into it.
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

// recycle puts the buffer of a frame back for reuse, unless it is unusually large.
func recycle(frame *bytes.Buffer) {
	if frame.Cap() <= atOnce {
		buffers.Put(frame)
	}
}

// readFrame reads one frame. The error is io.EOF if the stream has no further frame.
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
		return m, fmt.Errorf("the stream ended in the middle of a message: %w", err)
	}
	if m, err = parse(text); err != nil {
		return m, fmt.Errorf("not a message: %w", err)
	}
	return m, nil
}

// parse reads a message. The body of the message shares memory with text.
func parse(text []byte) (m message, err error) {
	if len(text) == 0 || text[0] != arrayOfFive {
		return m, errors.New("it doesn't begin as an array of five elements")
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

// atOnce bounds the memory that is allocated for a frame before its content has arrived.
const atOnce = 1 << 20

func readAll(in io.Reader, length int) ([]byte, error) {
	text := make([]byte, min(length, atOnce))
	_, err := io.ReadFull(in, text)
	if length > atOnce && err == nil {
		rest := bytes.NewBuffer(text)
		_, err = io.CopyN(rest, in, int64(length-atOnce))
		text = rest.Bytes()
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return text, err
}

// crowded is the number of unwritten bytes above which Room waits.
const crowded = 1 << 20

// outbox queues frames until they are written, so that no sender waits for a side that doesn't read.
type outbox struct {
	mu      sync.Mutex
	changed sync.Cond
	frames  []*bytes.Buffer
	// bytes is the length of all frames, including those that are being written.
	bytes  int
	closed bool
}

func newOutbox() *outbox {
	o := &outbox{}
	o.changed.L = &o.mu
	return o
}

// put adds a frame. After close the frame is dropped.
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

// room waits while more than crowded bytes are unwritten.
func (o *outbox) room() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for o.bytes > crowded && !o.closed {
		o.changed.Wait()
	}
}

// close closes the outbox: from now on put drops frames.
func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	o.changed.Broadcast()
}

// write writes frames until close was called and all frames are written, or until a write fails.
func (o *outbox) write(out io.Writer) error {
	for {
		frames := o.take()
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
	}
}

// take waits for frames and returns them.
func (o *outbox) take() []*bytes.Buffer {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.frames) == 0 && !o.closed {
		o.changed.Wait()
	}
	frames := o.frames
	o.frames = nil
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
