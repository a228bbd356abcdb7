package record

import "maps"

// Store is where the record of an object is kept: in an annotation or in a field of the status.
type Store struct {
	// Key is the key of the annotation.
	Key string
	// Field is the name of the field of the status, empty for the annotation. A record in the annotation counts as long
	// as there is none in the status.
	Field string
}

// Text returns the text of the record of an object, empty for none.
func (s Store) Text(object map[string]any) string {
	if text := s.InStatus(object); text != "" {
		return text
	}
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	text, _ := annotations[s.Key].(string)
	return text
}

// InStatus returns the text in the status, empty for none.
func (s Store) InStatus(object map[string]any) string {
	if s.Field == "" {
		return ""
	}
	status, _ := object["status"].(map[string]any)
	text, _ := status[s.Field].(string)
	return text
}

// Over returns a status with the text of a record. It doesn't change its argument.
func (s Store) Over(status map[string]any, text string) map[string]any {
	next := maps.Clone(status)
	if next == nil {
		next = map[string]any{}
	}
	next[s.Field] = text
	return next
}

// String names the place: "annotation example.dev/operkit-handled.cats", or "field status.handled".
func (s Store) String() string {
	if s.Field != "" {
		return s.Form() + " status." + s.Field
	}
	return s.Form() + " " + s.Key
}

// Form is what the place is: an annotation or a field.
func (s Store) Form() string {
	if s.Field != "" {
		return "field"
	}
	return "annotation"
}
