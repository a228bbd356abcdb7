package cluster

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/operkit/operkit/deploy/cluster/internal/compact"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

type marshaler interface{ Marshal() ([]byte, error) }

// protobufPrefix is what each document in protobuf begins with.
const protobufPrefix = "k8s\x00"

// wrapped is a message as an API server sends it.
func wrapped(t testing.TB, m marshaler) []byte {
	t.Helper()
	raw, err := m.Marshal()
	require.NoError(t, err)
	content, err := (&runtime.Unknown{Raw: raw}).Marshal()
	require.NoError(t, err)
	return append([]byte(protobufPrefix), content...)
}

// protobufOf is metadata as it comes as protobuf.
func protobufOf(t testing.TB, m metav1.ObjectMeta) []byte {
	t.Helper()
	return wrapped(t, &metav1.PartialObjectMetadata{ObjectMeta: m})
}

// frame is an event of a watch with its size before it.
func frame(t testing.TB, kind watch.EventType, object []byte) []byte {
	t.Helper()
	event, err := (&metav1.WatchEvent{Type: string(kind), Object: runtime.RawExtension{Raw: object}}).Marshal()
	require.NoError(t, err)
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(event))), event...)
}

func metadataFeed(said io.Writer) *feed {
	return &feed{kind: heldKind, metadataOnly: true, pool: compact.NewPool(), logger: slog.New(slog.NewTextHandler(said, nil))}
}

func TestEventsAsJSON(t *testing.T) {
	t.Parallel()
	const object = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}`
	for name, row := range map[string]struct {
		stream string
		want   []string
		err    string
	}{
		"as servers write them": {`{"type":"ADDED","object":` + object + "}\n" + `{"type":"DELETED","object":` + object + "}\n", []string{"ADDED a", "DELETED a"}, "EOF"},
		"with spaces":           {"{ \"object\": " + object + ",\n \"type\": \"MODIFIED\"}\n\n", []string{"MODIFIED a"}, "EOF"},
		"over several lines":    {"{\"type\":\"ADDED\",\"object\":{\n\"kind\":\"K\",\"apiVersion\":\"v1\",\n\"metadata\":{\"name\":\"b\"}}\n}\n", []string{"ADDED b"}, "EOF"},
		"no line's end":         {`{"type":"BOOKMARK","object":` + object + `}`, []string{"BOOKMARK a"}, "EOF"},
		"an error":              {`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","code":410,"reason":"Expired"}}` + "\n", []string{"ERROR 410"}, "EOF"},
		"cut off":               {`{"type":"ADDED","object":{"kind":"Conf`, nil, "unexpected EOF"},
		"no JSON":               {"<html>\n", nil, "invalid character '<' looking for beginning of value"},
		"another type":          {`{"type":"GONE","object":` + object + "}\n", nil, `unknown event type "GONE"`},
		"an object that can't be read is left out": {`{"type":"ADDED","object":{"metadata":{}}}` + "\n" + `{"type":"ADDED","object":` + object + "}\n", []string{"ADDED a"}, "EOF"},
		"a bookmark that is none":                  {`{"type":"BOOKMARK","object":"x"}` + "\n", nil, "decode a bookmark: json: cannot unmarshal string into Go value of type v1.PartialObjectMetadata"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &feed{kind: heldKind, pool: compact.NewPool(), logger: slog.New(slog.DiscardHandler)}
			stream := newEvents(io.NopCloser(strings.NewReader(row.stream)), f.read)
			var seen []string
			for {
				kind, obj, err := stream.Decode()
				if err != nil {
					assert.EqualError(t, err, row.err)
					break
				}
				if kind == watch.Error {
					seen = append(seen, "ERROR 410")
					continue
				}
				seen = append(seen, string(kind)+" "+obj.(metav1.ObjectMetaAccessor).GetObjectMeta().GetName())
			}
			assert.Equal(t, row.want, seen)
		})
	}
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
	stream := newStream(io.NopCloser(bytes.NewReader(body)), metadataFeed(&said).read)
	var kinds []watch.EventType
	for event := range stream.ResultChan() {
		kinds = append(kinds, event.Type)
		switch object := event.Object.(type) {
		case *metav1.Status:
			assert.Equal(t, int32(410), object.Code)
		case *metav1.PartialObjectMetadata:
			assert.Equal(t, "9", object.ResourceVersion)
			assert.Equal(t, "true", object.Annotations[metav1.InitialEventsAnnotationKey])
		case *compact.Object:
			assert.Equal(t, "a", object.Decode().GetName())
			assert.Equal(t, heldKind, object.Decode().GroupVersionKind())
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
		"cut off after it":      {whole[:4], "unexpected EOF"},
		"cut off in the event":  {whole[:20], "unexpected EOF"},
		"larger than any event": {[]byte{4, 0, 0, 1}, "event of 67108865 bytes: larger than any object"},
		"no event":              {[]byte{0, 0, 0, 2, 0xff, 0xff}, "unexpected EOF"},
		"of no type":            {frame(t, "", []byte(protobufPrefix)), `unknown event type ""`},
		"a bookmark of nothing": {frame(t, watch.Bookmark, []byte(protobufPrefix+"\xff")), "decode a bookmark: unexpected EOF"},
		"an error of nothing":   {frame(t, watch.Error, []byte(protobufPrefix+"\xff")), "decode the error of a watch: unexpected EOF"},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			e := newEvents(io.NopCloser(bytes.NewReader(row.body)), metadataFeed(io.Discard).read)
			_, _, err := e.Decode()
			assert.EqualError(t, err, row.want)
		})
	}
}

func TestListAsProtobuf(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	f := metadataFeed(&said)
	list, err := f.readMetadataList(wrapped(t, &metav1.PartialObjectMetadataList{
		ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"},
		Items:    []metav1.PartialObjectMetadata{{ObjectMeta: metav1.ObjectMeta{Name: "a"}}, {}, {ObjectMeta: metav1.ObjectMeta{Name: "b"}}},
	}))
	require.NoError(t, err)
	assert.Len(t, list.Items, 2)
	assert.Equal(t, "7", list.ResourceVersion)
	assert.Equal(t, "more", list.Continue)
	assert.Contains(t, said.String(), "it has no name")
	_, err = f.readMetadataList([]byte(protobufPrefix + "\xff"))
	assert.Error(t, err)
}

// Whatever comes, it is decoded or an error.
func FuzzEvents(f *testing.F) {
	f.Add(frame(f, watch.Added, protobufOf(f, metav1.ObjectMeta{Name: "a"})))
	f.Add(frame(f, watch.Error, wrapped(f, &metav1.Status{Code: 410})))
	f.Add([]byte(`{"type":"ADDED","object":{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a"}}}` + "\n"))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, feed := range []*feed{metadataFeed(io.Discard), {kind: heldKind, pool: compact.NewPool(), logger: slog.New(slog.DiscardHandler)}} {
			e := newEvents(io.NopCloser(bytes.NewReader(body)), feed.read)
			for {
				kind, object, err := e.Decode()
				if err != nil {
					break
				}
				assert.NotEmpty(t, kind)
				assert.NotNil(t, object)
			}
		}
	})
}

func TestDecode(t *testing.T) {
	t.Parallel()
	obj, err := decode([]byte(`{"kind":"ConfigMap","data":{"n":1}}`))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"n": int64(1)}, obj.Object["data"])
	for _, bad := range []string{``, `[]`, `"x"`, `{"kind":"K"`, `null`} {
		_, err := decode([]byte(bad))
		assert.Error(t, err, bad)
	}
}

// However many objects can't be read, what is kept of them and what is said has a bound.
func TestUnreadableObjectsAreBounded(t *testing.T) {
	t.Parallel()
	var said strings.Builder
	f := &feed{kind: heldKind, logger: slog.New(slog.NewTextHandler(&said, nil))}
	for n := range 10 * maxUnreadable {
		document := fmt.Appendf(nil, `{"metadata":{"name":"n-%d","namespace":"shop","uid":"u","resourceVersion":"1"},"data":1e999}`, n)
		for range 2 {
			assert.Nil(t, f.read(document))
		}
	}
	assert.Len(t, f.unreadable, maxUnreadable)
	assert.Equal(t, maxUnreadable, strings.Count(said.String(), "\n"), "each once")
	assert.Contains(t, said.String(), "n-7 ", "by its name")
}
