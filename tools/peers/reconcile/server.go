package main

import (
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/http/httptest"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	restwatch "k8s.io/client-go/rest/watch"
)

var (
	scheme = runtime.NewScheme()
	codecs = serializer.NewCodecFactory(scheme)
)

func init() {
	utilruntime.Must(corev1.AddToScheme(scheme))
	utilruntime.Must(appsv1.AddToScheme(scheme))
	utilruntime.Must(metav1.AddMetaToScheme(scheme))
}

// apiServer serves lists and watches of its objects on loopback, in the form that a client requests: JSON or protobuf,
// full objects or their metadata. The objects never change.
type apiServer struct {
	*httptest.Server
	objects map[string][]runtime.Object
}

// lastVersion is the resourceVersion of lists.
const lastVersion = "900000"

// newAPIServer serves objects, by the paths of their kinds.
func newAPIServer(objects map[string][]runtime.Object) *apiServer {
	s := &apiServer{objects: objects}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

func (s *apiServer) serve(w http.ResponseWriter, r *http.Request) {
	if objects, ok := s.objects[r.URL.Path]; ok {
		form, err := formOf(r)
		if err == nil && r.URL.Query().Get("watch") != "" {
			err = form.stream(w, r, objects)
		} else if err == nil {
			err = form.list(w, objects)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
		return
	}
	answer, ok := discovered[r.URL.Path]
	w.Header().Set("Content-Type", "application/json")
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		answer = &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonNotFound, Code: http.StatusNotFound}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// discovered is what is served, by path.
var discovered = map[string]any{
	"/api": &metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}},
	"/apis": &metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: []metav1.APIGroup{{
		Name: "apps", Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: "apps/v1", Version: "v1"}},
		PreferredVersion: metav1.GroupVersionForDiscovery{GroupVersion: "apps/v1", Version: "v1"},
	}}},
	"/api/v1":       served("v1", "ConfigMap", "configmaps"),
	"/apis/apps/v1": served("apps/v1", "Deployment", "deployments"),
}

func served(version, kind, plural string) *metav1.APIResourceList {
	return &metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: version,
		APIResources: []metav1.APIResource{{Name: plural, Kind: kind, Namespaced: true, Verbs: metav1.Verbs{"get", "list", "watch"}}},
	}
}

// form is the form of a response that a client requests.
type form struct {
	runtime.SerializerInfo
	// partial asks for metadata only.
	partial bool
}

// formOf returns the first requested form that the server supports.
func formOf(r *http.Request) (form, error) {
	accepted := r.Header.Get("Accept")
	for clause := range strings.SplitSeq(accepted, ",") {
		mediaType, parameters, err := mime.ParseMediaType(clause)
		if err != nil {
			return form{}, fmt.Errorf("accept %q: %w", clause, err)
		}
		info, ok := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), mediaType)
		as := parameters["as"]
		if partial := strings.HasPrefix(as, "PartialObjectMetadata"); ok && info.StreamSerializer != nil && (partial || as == "") {
			return form{info, partial}, nil
		}
	}
	return form{}, fmt.Errorf("accept %q: nothing of it is served", accepted)
}

// of returns an object in this form.
func (f form) of(obj runtime.Object) (runtime.Object, schema.GroupVersion, error) {
	if !f.partial {
		kinds, _, err := scheme.ObjectKinds(obj)
		if err != nil {
			return nil, schema.GroupVersion{}, err
		}
		return obj, kinds[0].GroupVersion(), nil
	}
	described, err := meta.Accessor(obj)
	if err != nil {
		return nil, schema.GroupVersion{}, err
	}
	return meta.AsPartialObjectMetadata(described), metav1.SchemeGroupVersion.WithKind("PartialObjectMetadata").GroupVersion(), nil
}

func (f form) list(w http.ResponseWriter, objects []runtime.Object) error {
	items := make([]runtime.Object, len(objects))
	var version schema.GroupVersion
	for i, obj := range objects {
		var err error
		if items[i], version, err = f.of(obj); err != nil {
			return err
		}
	}
	var list runtime.Object
	switch items[0].(type) {
	case *corev1.ConfigMap:
		list = &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: lastVersion}}
	case *appsv1.Deployment:
		list = &appsv1.DeploymentList{ListMeta: metav1.ListMeta{ResourceVersion: lastVersion}}
	default:
		list = &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: lastVersion}}
	}
	if err := meta.SetList(list, items); err != nil {
		return err
	}
	w.Header().Set("Content-Type", f.MediaType)
	return codecs.EncoderForVersion(f.Serializer, version).Encode(list, w)
}

// stream sends the existing objects, if the client asks for them, and then nothing until the client disconnects.
func (f form) stream(w http.ResponseWriter, r *http.Request, objects []runtime.Object) error {
	first, version, err := f.of(objects[0])
	if err != nil {
		return err
	}
	mediaType := f.MediaType
	if mediaType != runtime.ContentTypeJSON {
		mediaType += ";stream=watch"
	}
	w.Header().Set("Content-Type", mediaType)
	flush := http.NewResponseController(w).Flush
	if r.URL.Query().Get("sendInitialEvents") == "true" {
		frames := streaming.NewEncoder(f.StreamSerializer.Framer.NewFrameWriter(w), codecs.EncoderForVersion(f.StreamSerializer.Serializer, corev1.SchemeGroupVersion))
		events := restwatch.NewEncoder(frames, codecs.EncoderForVersion(f.Serializer, version))
		for _, obj := range objects {
			sent, _, err := f.of(obj)
			if err != nil {
				return err
			}
			if err := events.Encode(&watch.Event{Type: watch.Added, Object: sent}); err != nil {
				return err
			}
		}
		if err := events.Encode(&watch.Event{Type: watch.Bookmark, Object: allSent(first)}); err != nil {
			return err
		}
	}
	if err := flush(); err != nil {
		return err
	}
	<-r.Context().Done()
	return nil
}

// allSent returns the bookmark after the existing objects, an object of the same kind as example.
func allSent(example runtime.Object) runtime.Object {
	described := metav1.ObjectMeta{ResourceVersion: lastVersion, Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}
	switch example.(type) {
	case *corev1.ConfigMap:
		return &corev1.ConfigMap{ObjectMeta: described}
	case *appsv1.Deployment:
		return &appsv1.Deployment{ObjectMeta: described}
	}
	return &metav1.PartialObjectMetadata{ObjectMeta: described}
}
