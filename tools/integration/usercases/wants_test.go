package usercases

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/operkit/operkit/deploy"
	"github.com/operkit/operkit/status"
)

// want is what has to come true in a step. Its error says what is so instead.
type want func(s *scene) error

// conditions are those that the operator has set for the present generation of the resource.
func conditions(s *scene) (map[string]metav1.Condition, error) {
	live, err := s.live()
	if err != nil {
		return nil, err
	}
	set := status.Conditions(live)
	current := map[string]metav1.Condition{}
	for _, c := range set.List() {
		if c.ObservedGeneration == live.GetGeneration() {
			current[c.Type] = c
		}
	}
	return current, set.Err()
}

// ready wants the resource to be rolled out.
func ready(s *scene) error {
	current, err := conditions(s)
	if err != nil {
		return err
	}
	if current[status.ConditionReady].Status != metav1.ConditionTrue || current[status.ConditionUpdating].Status != metav1.ConditionFalse {
		return errors.New("the resource isn't Ready")
	}
	return nil
}

// unready wants the resource not to be Ready, and to say so of its present generation.
func unready(s *scene) error {
	current, err := conditions(s)
	if err != nil {
		return err
	}
	if ready, there := current[status.ConditionReady]; !there || ready.Status == metav1.ConditionTrue {
		return errors.New("the resource has no condition Ready of its present generation that isn't true")
	}
	return nil
}

// message wants all texts in the message of one condition.
func message(texts ...string) want {
	return func(s *scene) error {
		current, err := conditions(s)
		if err != nil {
			return err
		}
		for _, c := range current {
			if containsAll(c.Message, texts) {
				return nil
			}
		}
		return fmt.Errorf("no condition of the present generation contains %q", texts)
	}
}

func containsAll(message string, texts []string) bool {
	for _, text := range texts {
		if !strings.Contains(message, text) {
			return false
		}
	}
	return true
}

// kept wants all objects and claims to be those from before the step.
func kept(s *scene) error {
	for ref, uid := range s.before {
		now, err := standing(s, ref)
		if err != nil {
			return err
		}
		if now.GetUID() != uid {
			return fmt.Errorf("%s isn't kept: its uid is %s, and was %s", ref, now.GetUID(), uid)
		}
	}
	return nil
}

// anew wants all objects of the resource to be others than before the step. Claims of workloads are kept.
func anew(s *scene) error {
	rendered := s.refs()
	for ref, uid := range s.before {
		now, err := standing(s, ref)
		if err != nil {
			return err
		}
		if slices.Contains(rendered, ref) == (now.GetUID() == uid) {
			return fmt.Errorf("%s has to be made anew if it is rendered, and else kept: its uid is %s, and was %s", ref, now.GetUID(), uid)
		}
	}
	return nil
}

// absent is the value of a field that an object doesn't have.
var absent any

// field wants a field of the resource's object of a kind to have a value.
func field(kind string, value any, path ...string) want {
	return func(s *scene) error {
		obj, err := standing(s, s.ref(kind))
		if err != nil {
			return err
		}
		if have, _, err := unstructured.NestedFieldNoCopy(obj.Object, path...); err != nil || !reflect.DeepEqual(have, value) {
			return fmt.Errorf("%s: %s is %v, and not %v", deploy.RefOf(obj), strings.Join(path, "."), have, value)
		}
		return nil
	}
}
