package manifest

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"
)

// Port returns a port of a container as an item of a list.
func Port(name string, port int, indent string) string {
	return fmt.Sprintf("%s- name: %s\n%s  containerPort: %d\n", indent, name, indent, port)
}

// item matches the beginning of an item of a list, and captures its indent.
var item = regexp.MustCompile(`^([ \t]*)- `)

// AddPort adds a port to the container of a Deployment, after the ports that it has. changed is false if the container has
// the port already. If several containers have ports, or none, the error is ErrNoPlace.
func AddPort(deployment []byte, name string, port int) (text []byte, changed bool, err error) {
	before, ports, err := portsOf(deployment)
	switch {
	case err != nil || len(ports) != 1:
		return nil, false, ErrNoPlace
	case has(ports[0], port):
		return deployment, false, nil
	}
	offset, indent, found := behindPorts(deployment)
	if !found {
		return nil, false, ErrNoPlace
	}
	text = inserted(deployment, offset, Port(name, port, indent))
	after, ports, err := portsOf(text)
	if err != nil || len(ports) != 1 || !has(ports[0], port) || reflect.DeepEqual(before, after) {
		return nil, false, ErrNoPlace
	}
	for _, container := range containersOf(after) { // what is left is what was there
		if all, is := container["ports"].([]any); is {
			container["ports"] = all[:len(all)-1]
		}
	}
	if !reflect.DeepEqual(before, after) {
		return nil, false, ErrNoPlace
	}
	return text, true, nil
}

// behindPorts returns the offset after the last item with a containerPort, and the indent of that item.
func behindPorts(deployment []byte) (offset int, indent string, found bool) {
	at, inside := 0, false
	current := ""
	for line := range strings.Lines(string(deployment)) {
		at += len(line)
		start := item.FindStringSubmatch(line)
		switch {
		case start != nil:
			current, inside = start[1], strings.Contains(line, "containerPort:")
		case len(strings.TrimSpace(line)) > 0 && indentOf(line) <= len(current):
			inside = false
		case strings.Contains(line, "containerPort:"):
			inside = true
		}
		if inside {
			offset, indent, found = at, current, true
		}
	}
	return offset, indent, found && strings.HasSuffix(string(deployment[:offset]), "\n")
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// portsOf returns a parsed Deployment, and the ports of its containers that have any.
func portsOf(deployment []byte) (document map[string]any, ports [][]any, err error) {
	if err := yaml.Unmarshal(deployment, &document); err != nil {
		return nil, nil, err
	}
	for _, container := range containersOf(document) {
		if all, is := container["ports"].([]any); is && len(all) > 0 {
			ports = append(ports, all)
		}
	}
	return document, ports, nil
}

func containersOf(document map[string]any) (found []map[string]any) {
	var at any = document
	for _, key := range []string{"spec", "template", "spec", "containers"} {
		fields, is := at.(map[string]any)
		if !is {
			return nil
		}
		at = fields[key]
	}
	all, _ := at.([]any)
	for _, one := range all {
		if container, is := one.(map[string]any); is {
			found = append(found, container)
		}
	}
	return found
}

// has reports whether ports have a number.
func has(ports []any, port int) bool {
	for _, one := range ports {
		if fields, is := one.(map[string]any); is && fields["containerPort"] == float64(port) {
			return true
		}
	}
	return false
}
