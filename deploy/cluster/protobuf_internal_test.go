package cluster

import (
	"bytes"
	"encoding/binary"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

type marshaler interface{ Marshal() ([]byte, error) }

// wrapped is a message as an API server sends it.
func wrapped(t testing.TB, m marshaler) []byte {
	t.Helper()
	raw, err := m.Marshal()
	require.NoError(t, err)
	content, err := (&runtime.Unknown{Raw: raw}).Marshal()
	require.NoError(t, err)
	return append(bytes.Clone(envelope), content...)
}

// frame is an event of a watch with its size before it.
func frame(t testing.TB, kind watch.EventType, object []byte) []byte {
	t.Helper()
	event, err := (&metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: object}}).Marshal()
	require.NoError(t, err)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...)
}

func partialFeed(said io.Writer) *feed {
	c := newCommon()
	return &feed{kind: heldKind, partial: true, common: c, decoder: decoder{common: c, partial: true}, logger: slog.New(slog.NewTextHandler(said, nil))}
}

func TestEventsAsProtobuf(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	named := func(name, version string) []byte {
		return protobufOf(t, metav1.ObjectMeta{Name: name, Namespace: "shop", ResourceVersion: version})
	}
	mark := metav1.ObjectMeta{ResourceVersion: "9", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}
	body := bytes.Join([][]byte{
		frame(t, watch.Added, named("a", "1")), frame(t, watch.Modified, named("a", "2")), frame(t, watch.Added, named("", "3")),
		frame(t, watch.Deleted, named("a", "4")), frame(t, watch.Bookmark, protobufOf(t, mark)),
		frame(t, watch.Error, wrapped(t, &metav1.Status{Code: 410, Reason: metav1.StatusReasonExpired})),
	}, nil)
	stream := newStream(io.NopCloser(bytes.NewReader(body)), partialFeed(&said).read)
	var kinds []watch.EventType
	for event := range stream.ResultChan() {
		kinds = append(kinds, event.Type)
		switch object := event.Object.(type) {
		case *metav1.Status:
			assert.Equal(t, int32(410), object.Code)
		case metav1.Object:
			if event.Type == watch.Bookmark {
				assert.Equal(t, "9", object.GetResourceVersion())
				assert.Equal(t, "true", object.GetAnnotations()[metav1.InitialEventsAnnotationKey])
				continue
			}
			assert.Equal(t, "a", object.GetName())
			assert.Equal(t, heldKind, event.Object.GetObjectKind().GroupVersionKind())
		}
	}
	assert.Equal(t, []watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Bookmark, watch.Error}, kinds)
	assert.Equal(t, 1, strings.Count(said.String(), "an object can't be read"), "what has no name keeps no other from being shown")
}

func TestBrokenProtobuf(t *testing.T) {
	t.Parallel()
	whole := frame(t, watch.Added, protobufOf(t, metav1.ObjectMeta{Name: "a"}))
	for reason, row := range map[string]struct {
		body []byte
		want string
	}{
		"the end":               {nil, "EOF"},
		"cut off in its size":   {whole[:3], "unexpected EOF"},
		"cut off in the event":  {whole[:20], "unexpected EOF"},
		"larger than any event": {[]byte{4, 0, 0, 1}, "an event of 67108865 bytes"},
		"no event":              {[]byte{0, 0, 0, 2, 0xff, 0xff}, "an event: unexpected EOF"},
		"an event of JSON":      {frame(t, watch.Added, []byte(`{}`)), "an event: its object isn't protobuf"},
		"of no type":            {frame(t, "", envelope), `an event of type ""`},
		"a bookmark of nothing": {frame(t, watch.Bookmark, append(bytes.Clone(envelope), 0xff)), "a bookmark: unexpected EOF"},
		"an error of nothing":   {frame(t, watch.Error, append(bytes.Clone(envelope), 0xff)), "the error of a watch: unexpected EOF"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			e := newEvents(io.NopCloser(bytes.NewReader(row.body)), partialFeed(io.Discard).read)
			_, _, err := e.Decode()
			assert.EqualError(t, err, row.want)
		})
	}
}

func TestListAsProtobuf(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	f := partialFeed(&said)
	list, err := metadataList(wrapped(t, &metav1.PartialObjectMetadataList{
		ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"},
		Items:    []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, {}, {ObjectMeta: metav1.ObjectMeta{Name: "b"}}},
	}), f.readMetadata)
	require.NoError(t, err)
	assert.Len(t, list.Items, 2)
	assert.Equal(t, "7", list.ResourceVersion)
	assert.Equal(t, "more", list.Continue)
	assert.Contains(t, said.String(), "it has no name")
	_, err = metadataList(append(bytes.Clone(envelope), 0xff), f.readMetadata)
	assert.Error(t, err)
}

// Whatever comes, it is decoded or an error.
func FuzzEvents(f *testing.F) {
	f.Add(frame(f, watch.Added, protobufOf(f, metav1.ObjectMeta{Name: "a"})))
	f.Add(frame(f, watch.Error, wrapped(f, &metav1.Status{Code: 410})))
	f.Add([]byte(`{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}}` + "\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		e := newEvents(io.NopCloser(bytes.NewReader(body)), partialFeed(io.Discard).read)
		for {
			kind, object, err := e.Decode()
			if err != nil {
				return
			}
			assert.NotEmpty(t, kind)
			assert.NotNil(t, object)
		}
	})
}
