package edit

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
)

// location is a place in a resource, with the schema of its value.
type location struct {
	// name is the path with indexes and keys, and path the one that Fields has.
	name, path string
	schema     map[string]any
	parent     *location // nil for the resource
	step       any       // a key of the parent, or an index
	depth      int
	// inPod: the location is in the template of a Pod.
	inPod bool
}

// field returns the location of a field of an object.
func (p *location) field(name string) *location {
	next := &location{name, name, propertyOf(p.schema, name), p, name, p.depth + 1, p.inTemplate()}
	if p.parent != nil {
		next.name, next.path = p.name+"."+name, p.path+"."+name
	}
	return next
}

// item returns the location of an item of a list.
func (p *location) item(index int) *location {
	return &location{fmt.Sprintf("%s[%d]", p.name, index), p.path + "[]", itemsOf(p.schema), p, index, p.depth + 1, p.inPod}
}

// entry returns the location of an entry of a map.
func (p *location) entry(key string) *location {
	return &location{p.name + "." + key, p.path + "{}", entriesOf(p.schema), p, key, p.depth + 1, p.inPod}
}

// get returns the value of the location in a resource.
func (p *location) get(resource map[string]any) (value any, exists bool) {
	if p.parent == nil {
		return resource, true
	}
	container, _ := p.parent.get(resource)
	switch container := container.(type) {
	case map[string]any:
		value, exists = container[p.step.(string)]
	case []any:
		if index, is := p.step.(int); is && index < len(container) {
			return container[index], true
		}
	}
	return value, exists
}

// put sets the value of the location in a resource. Objects that it is in are made, with their required fields, but
// items of lists aren't.
func (p *location) put(resource map[string]any, value any) {
	value = runtime.DeepCopyJSONValue(value)
	container, exists := p.parent.get(resource)
	if !exists || container == nil {
		made, _ := fresh(p.parent.schema)
		if made == nil {
			made = map[string]any{}
		}
		p.parent.put(resource, made)
		container, _ = p.parent.get(resource)
	}
	switch container := container.(type) {
	case map[string]any:
		container[p.step.(string)] = value
	case []any:
		if index := p.step.(int); index < len(container) {
			container[index] = value
		}
	}
}

// drop removes the location from a resource.
func (p *location) drop(resource map[string]any) {
	if container, exists := p.parent.get(resource); exists {
		if container, is := container.(map[string]any); is {
			delete(container, p.step.(string))
		}
	}
}

// creatable reports whether the objects that the location is in can be made where a resource hasn't got them.
func (p *location) creatable(resource map[string]any) bool {
	for at := p.parent; at != nil; at = at.parent {
		if value, exists := at.get(resource); exists && value != nil {
			return true
		}
		if _, can := fresh(at.schema); !can {
			return false
		}
	}
	return true
}

// inTemplate reports whether the fields of an object are those of a Pod or of a container.
func (p *location) inTemplate() bool {
	has := func(name string) bool { return propertyOf(p.schema, name) != nil }
	return p.inPod || has("containers") && has("dnsPolicy") || has("image") && has("imagePullPolicy")
}

// leftAlone reports whether a location isn't edited, because its schema says less than Kubernetes about what is valid:
// in the template of a Pod the image, and what a sample doesn't have.
func (p *location) leftAlone(exists bool) bool { return p.inPod && (!exists || p.step == "image") }
