package known

import (
	"errors"
	"fmt"
	"time"

	"github.com/operkit/operkit/status/internal/condition"
	"github.com/operkit/operkit/status/readiness"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ErrDefinition means that Conditions got something that isn't a CustomResourceDefinition with conditions.
var ErrDefinition = errors.New("invalid definition")

// Conditions returns a Registry with a general rule for the kinds of the given CustomResourceDefinitions: an object
// that has no conditions yet is InProgress; the usual rules judge one that has some. It is for kinds whose controllers
// always set conditions; a kind whose conditions stay empty while all is well would never be ready.
//
// Conditions returns an error for each definition that isn't a CustomResourceDefinition, or that has a served version
// without status.conditions in its schema. The errors wrap ErrDefinition. The Registry has the other kinds then.
func Conditions(definitions ...*unstructured.Unstructured) (readiness.Registry, error) {
	registry := readiness.Registry{}
	var faults []error
	for _, definition := range definitions {
		if err := declaresConditions(definition); err != nil {
			faults = append(faults, err)
			continue
		}
		registry[kindOf(definition)] = readiness.Expectation{And: hasConditions}
	}
	return registry, errors.Join(faults...)
}

// hasConditions waits for the first condition.
func hasConditions(_ time.Time, document map[string]any) readiness.Result {
	if len(condition.List(document)) == 0 {
		return inProgress("ConditionsMissing", "the object has no conditions yet: its controller hasn't handled it", "status.conditions")
	}
	return ready("ConditionsPresent", "the object has conditions", "status.conditions")
}

func declaresConditions(definition *unstructured.Unstructured) error {
	if definition == nil || definition.GetKind() != "CustomResourceDefinition" || kindOf(definition).Kind == "" {
		return fmt.Errorf("%w: use a CustomResourceDefinition", ErrDefinition)
	}
	served := 0
	for _, version := range maps(condition.Map(definition.Object, "spec")["versions"]) {
		if isServed, _ := version["served"].(bool); !isServed {
			continue
		}
		served++
		kind, _, _ := unstructured.NestedString(version, "schema", "openAPIV3Schema", "properties", "status", "properties", "conditions", "type")
		if kind != "array" {
			return fmt.Errorf("%w: %s: version %s: the schema has no list status.conditions: leave the kind out",
				ErrDefinition, definition.GetName(), condition.Text(version, "name"))
		}
	}
	if served == 0 {
		return fmt.Errorf("%w: %s: no version is served", ErrDefinition, definition.GetName())
	}
	return nil
}
