package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/deploy/cluster/internal/compact"
	"github.com/operkit/operkit/deploy/internal/selection"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// Requests for metadata ask for protobuf, which costs client and server less than JSON. The header is the same as the
// garbage collector's in a control plane, so that an API server encodes an event only once for both. A server without
// protobuf responds with JSON.
const (
	acceptMetadata     = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
	acceptMetadataList = "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"
)

// feed lists and watches the objects of one kind.
type feed struct {
	requests *requests
	kind     schema.GroupVersionKind
	// metadataOnly means that only metadata is requested.
	metadataOnly bool
	selected     selection.Selection
	pool         *compact.Pool
	logger       *slog.Logger

	mu sync.Mutex
	// unreadable are the objects for which a decoding error has been logged.
	unreadable map[string]bool
}

const maxUnreadable = 1000

// list requests one page of a list.
func (f *feed) list(ctx context.Context, at schema.GroupVersionResource, namespace string, options metav1.ListOptions) (runtime.Object, error) {
	request, err := f.request(at, namespace, options)
	if err != nil {
		return nil, err
	}
	if f.metadataOnly {
		request.SetHeader("Accept", acceptMetadataList)
	}
	result := request.Do(ctx)
	if err := result.Error(); err != nil { // the error of Raw lacks the message of the API server
		return nil, err
	}
	body, err := result.Raw()
	if err != nil {
		return nil, err
	}
	read := f.readList
	if f.metadataOnly {
		read = f.readMetadataList
	}
	list, err := read(body)
	if err != nil {
		return nil, fmt.Errorf("the answer isn't a list: %w", err)
	}
	return list, nil
}

// watch opens a stream of events.
func (f *feed) watch(ctx context.Context, at schema.GroupVersionResource, namespace string, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	request, err := f.request(at, namespace, options)
	if err != nil {
		return nil, err
	}
	if f.metadataOnly {
		request.SetHeader("Accept", acceptMetadata)
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return nil, err
	}
	return newStream(body, f.read), nil
}

// request returns a request for the objects of a namespace ("": of all namespaces).
func (f *feed) request(at schema.GroupVersionResource, namespace string, options metav1.ListOptions) (*rest.Request, error) {
	options.LabelSelector, options.FieldSelector = f.selected.Texts()
	where, err := path(resource{GroupVersionResource: at, scope: deploy.Namespaced}, deploy.Ref{Namespace: namespace}, "")
	if err != nil {
		return nil, err
	}
	request := f.requests.client.Get().AbsPath(where...).
		SpecificallyVersionedParams(&options, metav1.ParameterCodec, metav1.Unversioned).
		MaxRetries(0).WarningHandlerWithContext(rest.NoWarnings{})
	return request, nil
}

func (f *feed) readList(body []byte) (*metainternal.List, error) {
	var answer struct {
		Metadata metav1.ListMeta   `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	list := &metainternal.List{ListMeta: answer.Metadata, Items: make([]runtime.Object, 0, len(answer.Items))}
	for _, document := range answer.Items {
		if obj := f.read(document); obj != nil {
			list.Items = append(list.Items, obj)
		}
	}
	return list, nil
}

func (f *feed) readMetadataList(body []byte) (*metainternal.List, error) {
	var answer metav1.PartialObjectMetadataList
	if err := compact.Unmarshal(body, &answer); err != nil {
		return nil, err
	}
	list := &metainternal.List{ListMeta: answer.ListMeta, Items: make([]runtime.Object, 0, len(answer.Items))}
	for i := range answer.Items {
		metadata := &answer.Items[i].ObjectMeta
		obj, err := encodeMetadata(f.pool, metadata, f.kind)
		if err != nil {
			f.leaveOut(metadata.Namespace, metadata.Name, err)
			continue
		}
		list.Items = append(list.Items, obj)
	}
	return list, nil
}

// read decodes an object of the kind. If the object can't be decoded, read returns nil and logs this once, so that the
// other objects are still shown.
func (f *feed) read(document []byte) *compact.Object {
	obj, err := f.decode(document)
	if err == nil {
		return obj
	}
	var named struct {
		Metadata struct{ Name, Namespace string } `json:"metadata"`
	}
	_ = json.Unmarshal(document, &named) // best effort: the document may be malformed
	f.leaveOut(named.Metadata.Namespace, named.Metadata.Name, err)
	return nil
}

func (f *feed) decode(document []byte) (*compact.Object, error) {
	if f.metadataOnly {
		return decodeMetadata(f.pool, document, f.kind)
	}
	obj, err := decode(document)
	if err != nil {
		return nil, err
	}
	obj.SetGroupVersionKind(f.kind) // items of lists of built-in kinds have no kind
	if obj.GetName() == "" {
		return nil, errNoName
	}
	return f.pool.Encode(obj), nil
}

var errNoName = errors.New("it has no name")

// decodeMetadata decodes the metadata of an object of kind.
func decodeMetadata(pool *compact.Pool, document []byte, kind schema.GroupVersionKind) (*compact.Object, error) {
	var partial metav1.PartialObjectMetadata
	if err := compact.Unmarshal(document, &partial); err != nil {
		return nil, err
	}
	return encodeMetadata(pool, &partial.ObjectMeta, kind)
}

func encodeMetadata(pool *compact.Pool, metadata *metav1.ObjectMeta, kind schema.GroupVersionKind) (*compact.Object, error) {
	if metadata.Name == "" {
		return nil, errNoName
	}
	return pool.EncodeMetadata(kind, metadata)
}

// leaveOut logs that an object can't be decoded.
func (f *feed) leaveOut(namespace, name string, err error) {
	key := namespace + "/" + name
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.unreadable[key] || len(f.unreadable) >= maxUnreadable {
		return
	}
	if f.unreadable == nil {
		f.unreadable = map[string]bool{}
	}
	f.unreadable[key] = true
	f.logger.Error("an object can't be read, leaving it out", "kind", f.kind.Kind, "namespace", namespace, "name", name, "error", err)
}
