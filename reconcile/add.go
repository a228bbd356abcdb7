package reconcile

import "errors"

// Add adds a component that consists of objects: *unstructured.Unstructured, plain maps,
// API structs with their TypeMeta set, apply configurations, or YAML. Namespaced objects without
// a namespace get the resource's. Their names in the component are made of their kinds and names, such as
// "deployment/web", with the namespace between if it isn't the resource's; Component.Add gives one of its own. A mistake, such as a name that is taken or an object that
// another component has already, ends the reconcile after Setup or Finalize, before anything is written.
func (s *Session) Add(name string, objects ...any) *Component {
	c := s.component(name)
	for _, object := range objects {
		text, isText := object.(YAML)
		if !isText {
			c.Add("", object)
			continue
		}
		found, err := text.objects()
		if err != nil {
			c.fail("%w", err)
		}
		for _, obj := range found {
			c.Add("", obj)
		}
	}
	return c
}

// component adds an empty component.
func (s *Session) component(name string) *Component {
	c := &Component{name: name, session: s, rendering: rendering{turn: make(chan struct{}, 1)}}
	if s.late("component %s is added when the rollout has begun: add it in Setup or Finalize", name) {
		return c
	}
	if name == "" {
		c.mistakes = append(c.mistakes, errors.New("a component has no name"))
	}
	if s.names == nil {
		s.names = map[string]*Component{}
	}
	if s.names[name] != nil {
		c.fail("is added twice")
	} else if name != "" {
		s.names[name] = c
	}
	s.components = append(s.components, c)
	return c
}
