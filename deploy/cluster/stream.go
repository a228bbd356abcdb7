package cluster

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// newStream gives the events that body holds. read decodes their objects; those for which it has none are left out.
func newStream(body io.ReadCloser, read func(document []byte) *unstructured.Unstructured) watch.Interface {
	reporter := apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding")
	return watch.NewStreamWatcher(newEvents(body, read), reporter)
}

func newEvents(body io.ReadCloser, read func(document []byte) *unstructured.Unstructured) *events {
	return &events{body: body, input: bufio.NewReader(body), read: read}
}

// events decodes the events of a watch: as JSON one a line, or as protobuf each behind its size.
type events struct {
	body  io.Closer
	input *bufio.Reader
	read  func(document []byte) *unstructured.Unstructured
	// frame is room for an event that comes as protobuf.
	frame []byte
}

// Close implements watch.Decoder.
func (e *events) Close() { _ = e.body.Close() }

// Decode implements watch.Decoder.
func (e *events) Decode() (watch.EventType, runtime.Object, error) {
	for {
		kind, document, err := e.next()
		if err != nil {
			return "", nil, err
		}
		switch kind {
		case watch.Added, watch.Modified, watch.Deleted:
			if obj := e.read(document); obj != nil {
				return kind, obj, nil
			}
		case watch.Bookmark:
			obj, err := bookmark(document)
			if err != nil {
				return "", nil, fmt.Errorf("a bookmark: %w", err)
			}
			return kind, obj, nil
		case watch.Error:
			status, err := statusIn(document)
			if err != nil {
				return "", nil, fmt.Errorf("the error of a watch: %w", err)
			}
			return kind, status, nil
		default:
			return "", nil, fmt.Errorf("an event of type %.20q", kind)
		}
	}
}

func bookmark(document []byte) (*unstructured.Unstructured, error) {
	if isProtobuf(document) {
		return decoder{}.decodeMetadata(document, schema.GroupVersionKind{})
	}
	obj := &unstructured.Unstructured{}
	return obj, json.Unmarshal(document, &obj.Object)
}

func statusIn(document []byte) (*metav1.Status, error) {
	status := &metav1.Status{}
	if !isProtobuf(document) {
		return status, json.Unmarshal(document, status)
	}
	content, err := unwrapped(document)
	if err == nil {
		err = status.Unmarshal(content)
	}
	return status, err
}

// next reads up to the end of an event. The document is good until it is called again. No event's size has the first byte of a text.
func (e *events) next() (kind watch.EventType, document []byte, err error) {
	if first, err := e.input.Peek(1); err == nil && first[0] <= largestFrame>>24 {
		return e.nextFrame()
	}
	return e.nextLine()
}

func (e *events) nextLine() (kind watch.EventType, document []byte, err error) {
	var text []byte
	for {
		line, err := e.input.ReadBytes('\n')
		text = append(text, line...)
		if complete := bytes.TrimSpace(text); len(complete) > 0 {
			if kind, document, ok := plainEvent(complete); ok {
				return kind, document, nil
			}
			var event metav1.WatchEvent
			problem := json.Unmarshal(complete, &event)
			if problem == nil {
				return watch.EventType(event.Type), event.Object.Raw, nil
			}
			var syntax *json.SyntaxError
			if !errors.As(problem, &syntax) || syntax.Offset < int64(len(complete)) {
				return "", nil, fmt.Errorf("an event: %w", problem)
			}
			if err != nil {
				return "", nil, noEOF(err)
			}
		}
		if err != nil {
			return "", nil, err
		}
	}
}

// plainEvent takes an event apart that is written as API servers write them.
func plainEvent(text []byte) (kind watch.EventType, document []byte, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte(`{"type":"`))
	if !ok {
		return "", nil, false
	}
	name, rest, ok := bytes.Cut(rest, []byte(`","object":{`))
	if !ok || bytes.ContainsAny(name, `\"`) {
		return "", nil, false
	}
	start := len(text) - len(rest) - 1
	behind := scanner{text[start:]}
	if !behind.skip() || string(behind.rest) != "}" {
		return "", nil, false
	}
	return watch.EventType(name), text[start : len(text)-1], true
}
