package podhash

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/reconcile/kit/internal/podtemplate"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The annotations, after the domain of the operator and a slash.
const (
	// Annotation is the annotation of a Pod template that has the hash.
	Annotation = "dependency-hash"
	// SkipAnnotation is the annotation of a workload that names objects that don't count, separated by commas, as in
	// "Secret/shop-key, ConfigMap/colours".
	SkipAnnotation = "dependency-hash-skip"
	// ReloadsAnnotation is the annotation of a workload whose value "true" means that the program reads its
	// certificates again when they change. Another value overrides Reloads.
	ReloadsAnnotation = "reloads-certificates"
	// DigestAnnotation is the annotation of a Secret or ConfigMap whose value counts in place of its content.
	DigestAnnotation = "dependency-digest"
)

// Read returns an object of the cluster, nil if there is none. The object may be shared.
type Read func(ctx context.Context, ref deploy.Ref) (*unstructured.Unstructured, error)

// Hasher adds hashes to Pod templates. It is safe for concurrent use.
type Hasher struct {
	domain  string
	skips   []func(workload *unstructured.Unstructured, ref Reference) bool
	reloads func(workload *unstructured.Unstructured) bool
	oper8   bool
}

// Option is an option of New and Components. Options are applied in order, the last one wins; nil is ignored.
type Option func(*Hasher)

// Domain sets the domain of the annotations; default deploy.Domain, and for Components the domain of the operator.
func Domain(domain string) Option { return func(h *Hasher) { h.domain = domain } }

// Skip leaves out the references for which skip returns true. If the option is given several times, a reference is left
// out if one of the functions returns true. workload is shared: don't change it.
func Skip(skip func(workload *unstructured.Unstructured, ref Reference) bool) Option {
	return func(h *Hasher) {
		if skip != nil {
			h.skips = append(h.skips, skip)
		}
	}
}

// Reloads declares which programs read their certificates again when they change: Secrets of type kubernetes.io/tls,
// and objects with nothing but certificates in PEM in the keys that are read, don't count for them. nil means all
// programs. Without the option a new certificate restarts Pods. The annotation ReloadsAnnotation of a workload
// overrides it.
func Reloads(program func(workload *unstructured.Unstructured) bool) Option {
	if program == nil {
		program = func(*unstructured.Unstructured) bool { return true }
	}
	return func(h *Hasher) { h.reloads = program }
}

// New returns a Hasher.
func New(options ...Option) *Hasher {
	h := &Hasher{}
	for _, option := range options {
		if option != nil {
			option(h)
		}
	}
	return h
}

// Annotate returns obj with the hash in its template. It returns obj itself if it has no Pods, or if nothing that they
// read counts. obj isn't changed, and the result shares parts of it. missing are the objects that the Pods require and
// that aren't there.
//
// read reads Secrets, ConfigMaps and, if obj is a Pod or a Job, the present obj. namespace is that of an obj without a
// namespace. An error of read ends Annotate with an error that names the object.
func (h *Hasher) Annotate(ctx context.Context, obj *unstructured.Unstructured, namespace string, read Read) (
	annotatedObj *unstructured.Unstructured, missing []Reference, err error) {
	namespace = cmp.Or(obj.GetNamespace(), namespace)
	if h.oper8 {
		return annotateOper8(ctx, obj, namespace, read)
	}
	refs, err := h.counted(obj)
	if err != nil || len(refs) == 0 {
		return obj, nil, err
	}
	kept, err := h.kept(ctx, obj, namespace, read)
	if kept != nil || err != nil {
		return kept, nil, err
	}
	sum := newDigest()
	for _, ref := range refs {
		found, err := readReference(ctx, ref, namespace, read)
		switch {
		case err != nil:
			return nil, nil, err
		case found == nil && !ref.Optional:
			missing = append(missing, ref)
		case found != nil:
			h.add(sum, obj, ref, found)
		}
	}
	if !sum.any {
		return obj, missing, nil
	}
	_, path, _ := podtemplate.Find(obj)
	return annotated(obj, path, h.key(Annotation), hex.EncodeToString(sum.hash.Sum(nil))), missing, nil
}

func (h *Hasher) key(name string) string { return cmp.Or(h.domain, deploy.Domain) + "/" + name }

// counted returns the references of obj that aren't skipped.
func (h *Hasher) counted(obj *unstructured.Unstructured) ([]Reference, error) {
	refs := References(obj)
	if len(refs) == 0 {
		return nil, nil
	}
	skipped := map[string]bool{}
	for part := range strings.SplitSeq(obj.GetAnnotations()[h.key(SkipAnnotation)], ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		kind, name, _ := strings.Cut(part, "/")
		if kind != Secret && kind != ConfigMap || name == "" {
			return nil, fmt.Errorf("annotation %s: %q: names no object: write Secret/<name> or ConfigMap/<name>", h.key(SkipAnnotation), part)
		}
		skipped[part] = true
	}
	return slices.DeleteFunc(refs, func(ref Reference) bool {
		return skipped[ref.String()] || slices.ContainsFunc(h.skips, func(skip func(*unstructured.Unstructured, Reference) bool) bool {
			return skip(obj, ref)
		})
	}), nil
}

// kept returns obj with the hash that it has in the cluster, if its template can't be changed any more. It returns nil
// if the hash is to be computed.
func (h *Hasher) kept(ctx context.Context, obj *unstructured.Unstructured, namespace string, read Read) (*unstructured.Unstructured, error) {
	if !podtemplate.Once(obj.GroupVersionKind().GroupKind()) || obj.GetName() == "" {
		return nil, nil
	}
	ref := deploy.Ref{Kind: obj.GroupVersionKind(), Namespace: namespace, Name: obj.GetName()}
	live, err := read(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	if live == nil || live.GetDeletionTimestamp() != nil {
		return nil, nil
	}
	value, found := annotation(live, h.key(Annotation))
	if !found {
		return obj, nil
	}
	_, path, _ := podtemplate.Find(obj)
	return annotated(obj, path, h.key(Annotation), value), nil
}

// add adds what counts of an object.
func (h *Hasher) add(sum *digest, workload *unstructured.Unstructured, ref Reference, found *unstructured.Unstructured) {
	values := contentOf(found, ref)
	text := found.GetAnnotations()[h.key(DigestAnnotation)]
	switch {
	case h.reloaded(workload) && (found.Object["type"] == "kubernetes.io/tls" && ref.Kind == Secret || values.isBundle()):
	case text != "":
		sum.addDigest(ref, text)
	default:
		sum.add(ref, values)
	}
}

// reloaded reports whether the program of a workload reads its certificates again when they change.
func (h *Hasher) reloaded(workload *unstructured.Unstructured) bool {
	if value, given := workload.GetAnnotations()[h.key(ReloadsAnnotation)]; given {
		return value == "true"
	}
	return h.reloads != nil && h.reloads(workload)
}

// readReference reads what a reference refers to. Errors name it.
func readReference(ctx context.Context, of Reference, namespace string, read Read) (*unstructured.Unstructured, error) {
	ref := deploy.Ref{Kind: schema.GroupVersionKind{Version: "v1", Kind: of.Kind}, Namespace: namespace, Name: of.Name}
	found, err := read(ctx, ref)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ref, err)
	}
	return found, nil
}
