package jobs

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/operkit/operkit/reconcile"
	"github.com/operkit/operkit/reconcile/internal/render"
	kitlabels "github.com/operkit/operkit/reconcile/kit/labels"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The labels and annotations of Jobs, after the domain of the operator and a slash.
const (
	// Label is the label of a Job that has the name of the component.
	Label = "once"
	// ValueLabel is the label, and the annotation, of a Job that has the value. A value that can't be a label is
	// shortened there, and ends in digits of its hash.
	ValueLabel = "once-value"
)

var jobKind = schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "Job"}

func valueKey(domain string) string { return domain + "/" + ValueLabel }

// parse returns a copy of a Job that a user passed.
func parse(value any) (*unstructured.Unstructured, error) {
	if text, isText := value.(reconcile.YAML); isText {
		found, err := render.YAML(string(text))
		switch {
		case err != nil:
			return nil, err
		case len(found) != 1:
			return nil, fmt.Errorf("the YAML has %d objects: pass one Job", len(found))
		}
		value = found[0]
	}
	if _, deferred := value.(reconcile.Deferred); deferred {
		return nil, errors.New("the Job is deferred: pass its content")
	}
	obj, err := render.Object(value)
	if err != nil {
		return nil, err
	}
	return obj.DeepCopy(), nil
}

// validate returns what is wrong with a Job.
func validate(job *unstructured.Unstructured) (errs []error) {
	if kind := job.GroupVersionKind(); kind != jobKind {
		return []error{fmt.Errorf("the object is a %s of %s: pass a Job of batch/v1", kind.Kind, kind.GroupVersion())}
	}
	if job.GetGenerateName() != "" {
		errs = append(errs, errors.New("the Job has a generateName: leave it out, the name depends on the value"))
	}
	spec, _ := job.Object["spec"].(map[string]any)
	if spec["ttlSecondsAfterFinished"] != nil {
		errs = append(errs, errors.New("the Job has a ttlSecondsAfterFinished: leave it out: the cluster would delete the Job, and it would run again"))
	}
	return errs
}

// setDefaults sets what the author left out.
func setDefaults(job *unstructured.Unstructured) {
	spec := child(job.Object, "spec")
	if spec["backoffLimitPerIndex"] == nil {
		setDefault(spec, "backoffLimit", int64(3))
	}
	pod := child(child(spec, "template"), "spec")
	setDefault(pod, "restartPolicy", "Never")
	for _, list := range []string{"initContainers", "containers"} {
		containers, _ := pod[list].([]any)
		for _, element := range containers {
			if container, ok := element.(map[string]any); ok {
				setDefault(container, "terminationMessagePolicy", "FallbackToLogsOnError")
			}
		}
	}
}

// child returns a map in a map. If it is missing, it is added.
func child(in map[string]any, field string) map[string]any {
	found, ok := in[field].(map[string]any)
	if !ok && in[field] == nil {
		found = map[string]any{}
		in[field] = found
	}
	if found == nil { // not a map: the cluster refuses it
		found = map[string]any{}
	}
	return found
}

func setDefault(in map[string]any, field string, value any) {
	if in[field] == nil || in[field] == "" {
		in[field] = value
	}
}

// mark adds the labels and the annotation.
func (o *once) mark(job *unstructured.Unstructured, domain, component string) {
	labels, annotations := job.GetLabels(), job.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[domain+"/"+Label], labels[valueKey(domain)] = kitlabels.Value(component), kitlabels.Value(o.value)
	annotations[valueKey(domain)] = o.value
	job.SetLabels(labels)
	job.SetAnnotations(annotations)
}

const (
	longestName = 63
	nameDigits  = 10
)

// nameOf returns base, cut if it is too long, with digits of the hash of base and texts.
func nameOf(base string, texts ...string) string {
	sum := sha256.New()
	for _, text := range append(texts, base) {
		fmt.Fprintf(sum, "%d:%s", len(text), text)
	}
	head := strings.TrimRight(base[:min(len(base), longestName-nameDigits-1)], "-.")
	return head + "-" + hex.EncodeToString(sum.Sum(nil))[:nameDigits]
}
