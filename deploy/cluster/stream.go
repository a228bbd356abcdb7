package cluster

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/operkit/operkit/deploy/cluster/internal/compact"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// maxFrame is the largest frame that is read, in bytes. It is larger than any object that an API server stores.
// maxBuffer is the largest frame whose buffer is reused.
const (
	maxFrame  = 1 << 26
	maxBuffer = 1 << 16
)

// newStream returns a watch of the events in body. read decodes the object of an event, and returns nil if the event
// has to be skipped.
func newStream(body io.ReadCloser, read func(document []byte) *compact.Object) watch.Interface {
	reporter := apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding")
	return watch.NewStreamWatcher(newEvents(body, read), reporter)
}

// events decodes the events of a watch in JSON or protobuf. Unlike a Decoder of client-go, it doesn't stop at an object
// that can't be decoded.
type events struct {
	body   io.Closer
	input  *bufio.Reader
	lines  *json.Decoder
	buffer []byte
	read   func(document []byte) *compact.Object
}

func newEvents(body io.ReadCloser, read func(document []byte) *compact.Object) *events {
	return &events{body: body, input: bufio.NewReader(body), read: read}
}

// Close implements watch.Decoder.
func (e *events) Close() { _ = e.body.Close() }

// Decode implements watch.Decoder.
func (e *events) Decode() (watch.EventType, runtime.Object, error) {
	for {
		var event metav1.WatchEvent
		if err := e.next(&event); err != nil {
			return "", nil, err
		}
		kind, document := watch.EventType(event.Type), event.Object.Raw
		switch kind {
		case watch.Added, watch.Modified, watch.Deleted:
			if obj := e.read(document); obj != nil {
				return kind, obj, nil
			}
		case watch.Bookmark:
			mark := &metav1.PartialObjectMetadata{}
			if err := compact.Unmarshal(document, mark); err != nil {
				return "", nil, fmt.Errorf("decode a bookmark: %w", err)
			}
			return kind, mark, nil
		case watch.Error:
			status := &metav1.Status{}
			if err := compact.Unmarshal(document, status); err != nil {
				return "", nil, fmt.Errorf("decode the error of a watch: %w", err)
			}
			return kind, status, nil
		default:
			return "", nil, fmt.Errorf("unknown event type %.20q", kind)
		}
	}
}

// next reads one event. In protobuf, an event is preceded by its size in four bytes. The first of these bytes can't be
// the beginning of a JSON text.
func (e *events) next(event *metav1.WatchEvent) error {
	if e.lines == nil {
		if first, err := e.input.Peek(1); err == nil && first[0] <= maxFrame>>24 {
			return e.nextFrame(event)
		}
		e.lines = json.NewDecoder(e.input)
	}
	return e.lines.Decode(event)
}

func (e *events) nextFrame(event *metav1.WatchEvent) error {
	var size [4]byte
	if _, err := io.ReadFull(e.input, size[:]); err != nil {
		return err
	}
	length := int(binary.BigEndian.Uint32(size[:]))
	if length > maxFrame {
		return fmt.Errorf("event of %d bytes: larger than any object", length)
	}
	frame := slices.Grow(e.buffer[:0], length)[:length]
	if length <= maxBuffer {
		e.buffer = frame
	}
	if _, err := io.ReadFull(e.input, frame); errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	} else if err != nil {
		return err
	}
	return event.Unmarshal(frame)
}
