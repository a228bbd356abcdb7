package selector

import (
	"errors"
	"fmt"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
)

// Key is the label of a generated selector: its value is the uid of the parent.
const Key = "controller-uid"

// Of returns a selector with further labels that have to match, too. One that selects everything, or that contradicts
// the further labels, is an error.
func Of(spec *metav1.LabelSelector, further map[string]string) (labels.Selector, error) {
	if spec == nil || len(spec.MatchLabels)+len(spec.MatchExpressions) == 0 {
		return nil, errors.New("selector: it is empty, and would select everything: set matchLabels or matchExpressions")
	}
	all := spec.DeepCopy()
	for key, value := range further {
		if given, ok := spec.MatchLabels[key]; ok && given != value {
			return nil, fmt.Errorf("selector: it wants the label %s=%s, which has to be %q: leave the label out", key, given, value)
		}
	}
	if len(further) > 0 {
		if all.MatchLabels == nil {
			all.MatchLabels = map[string]string{}
		}
		maps.Copy(all.MatchLabels, further)
	}
	made, err := metav1.LabelSelectorAsSelector(all)
	if err != nil {
		return nil, fmt.Errorf("selector: %w", err)
	}
	return made, nil
}

// Generated returns the selector that selects what has the uid of the parent as a label.
func Generated(uid types.UID) (*metav1.LabelSelector, error) {
	if uid == "" {
		return nil, errors.New("selector: the parent has no uid")
	}
	return &metav1.LabelSelector{MatchLabels: map[string]string{Key: string(uid)}}, nil
}
