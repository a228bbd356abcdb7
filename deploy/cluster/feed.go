package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"

	"github.com/operkit/operkit/deploy"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
)

// feed lists and watches the objects of one kind.
type feed struct {
	requests *requests
	kind     schema.GroupVersionKind
	// partial: it brings nothing but metadata.
	partial  bool
	selected selection
	decoder  decoder
	common   *common
	logger   *slog.Logger

	mu sync.Mutex
	// unreadable are the objects of which that has been said, no more than mostUnreadable.
	unreadable map[string]bool
}

const mostUnreadable = 1000

// selection is what the API server is asked for; the zero value is everything.
type selection struct{ labels, fields string }

// request is one for the collection of the kind in a namespace, or in all ("").
func (f *feed) request(at schema.GroupVersionResource, namespace string, options metav1.ListOptions) (*rest.Request, error) {
	options.LabelSelector, options.FieldSelector = f.selected.labels, f.selected.fields
	where, err := path(resource{GroupVersionResource: at, scope: deploy.Namespaced}, deploy.Ref{Namespace: namespace}, "")
	if err != nil {
		return nil, err
	}
	request := f.requests.client.Get().AbsPath(where...).
		SpecificallyVersionedParams(&options, metav1.ParameterCodec, metav1.Unversioned).
		MaxRetries(0).WarningHandlerWithContext(rest.NoWarnings{})
	return request, nil
}

func (f *feed) list(ctx context.Context, at schema.GroupVersionResource, namespace string, options metav1.ListOptions) (runtime.Object, error) {
	request, err := f.request(at, namespace, options)
	if err != nil {
		return nil, err
	}
	if f.partial {
		request.SetHeader("Accept", onlyMetadataList)
	}
	result := request.Do(ctx)
	// Raw's own error doesn't say what the API server says.
	if err := result.Error(); err != nil {
		return nil, err
	}
	body, err := result.Raw()
	if err != nil {
		return nil, err
	}
	if isProtobuf(body) {
		list, err := metadataList(body, f.readMetadata)
		if err != nil {
			return nil, fmt.Errorf("the answer is no list: %w", err)
		}
		return list, nil
	}
	var answer struct {
		Metadata metav1.ListMeta   `json:"metadata"`
		Items    []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("the answer is no list: %w", err)
	}
	list := &metainternal.List{ListMeta: answer.Metadata, Items: make([]runtime.Object, 0, len(answer.Items))}
	for _, document := range answer.Items {
		if obj := f.read(document); obj != nil {
			list.Items = append(list.Items, obj)
		}
	}
	return list, nil
}

func (f *feed) watch(ctx context.Context, at schema.GroupVersionResource, namespace string, options metav1.ListOptions) (watch.Interface, error) {
	options.Watch = true
	request, err := f.request(at, namespace, options)
	if err != nil {
		return nil, err
	}
	if f.partial {
		request.SetHeader("Accept", onlyMetadata)
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return nil, err
	}
	return newStream(body, f.read), nil
}

// holder says how what the feed brings is held.
func (f *feed) holder() holder {
	if f.partial {
		return holder{f.kind, f.common}
	}
	return holder{}
}

// read decodes an object of the kind, nil if that can't be done: one such object doesn't keep the others from being
// shown. What is wrong with it is said once.
func (f *feed) read(document []byte) *unstructured.Unstructured {
	obj, err := f.decoder.decode(document, f.kind)
	if err == nil && f.partial {
		return obj // its record has what is needed
	}
	if err == nil {
		return f.common.needed(obj)
	}
	h, _ := peek(document)
	f.leaveOut(string(h.namespace), string(h.name), err)
	return nil
}

// readMetadata is read for the items of a list of metadata.
func (f *feed) readMetadata(metadata *metav1.ObjectMeta) *unstructured.Unstructured {
	obj, err := f.decoder.object(metadata, f.kind)
	if err != nil {
		f.leaveOut(metadata.Namespace, metadata.Name, err)
		return nil
	}
	return obj
}

func (f *feed) leaveOut(namespace, name string, err error) {
	key := namespace + "/" + name
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.unreadable[key] && len(f.unreadable) < mostUnreadable {
		if f.unreadable == nil {
			f.unreadable = map[string]bool{}
		}
		f.unreadable[key] = true
		f.logger.Error("an object can't be read, going on without it", "kind", f.kind.Kind, "namespace", namespace, "name", name, "error", err)
	}
}
