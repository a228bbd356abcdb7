package settings

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Document returns a file with these settings, which have to be in the order of All. A comment behind each value names
// its source.
func Document(settings []Setting) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, one := range settings {
		at := root
		path := strings.Split(one.Key, ".")
		last := len(path) - 1
		for _, name := range path[:last] {
			at = below(at, name)
		}
		at.Content = append(at.Content, text(path[last]), one.node())
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(root); err != nil {
		return nil, err
	}
	return out.Bytes(), encoder.Close()
}

func text(value string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: value} }

// below returns the map under a name, and adds it if it is missing. Names are sorted, so only the last map can have the
// name.
func below(at *yaml.Node, name string) *yaml.Node {
	if n := len(at.Content); n > 0 && at.Content[n-2].Value == name {
		return at.Content[n-1]
	}
	inner := &yaml.Node{Kind: yaml.MappingNode}
	at.Content = append(at.Content, text(name), inner)
	return inner
}

// node returns the value of a setting.
func (s Setting) node() *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode}
	switch {
	case s.IsList:
		node = &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, item := range s.Items {
			one := &yaml.Node{}
			one.SetString(item)
			node.Content = append(node.Content, one)
		}
	case s.Type == "string":
		node.SetString(s.Value)
	default:
		node.Value = s.Value
	}
	node.LineComment = s.Origin.String()
	return node
}
