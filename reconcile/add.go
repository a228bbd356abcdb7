package reconcile

import (
	"errors"
	"fmt"
)

// Add adds a component that consists of objects: *unstructured.Unstructured, plain maps,
// API structs with their TypeMeta set, or apply configurations. Namespaced objects without
// a namespace get the resource's. A mistake, such as a name that is taken or an object that
// another component has already, ends the reconcile after Setup, before anything is written.
func (s *Session) Add(name string, objects ...any) *Component {
	component := &Component{name: name, session: s}
	if name == "" {
		s.fail(errors.New("a component has no name"))
	}
	for _, existing := range s.components {
		if existing.name == name && name != "" {
			s.fail(fmt.Errorf("component %s: is added twice", name))
		}
	}
	for _, value := range objects {
		obj, err := toObject(value)
		if err != nil {
			s.fail(fmt.Errorf("component %s: %w", name, err))
			continue
		}
		component.objects = append(component.objects, obj)
	}
	s.components = append(s.components, component)
	return component
}

func (s *Session) fail(err error) { s.mistakes = append(s.mistakes, err) }
