package openapi_test

import (
	"strings"

	"github.com/operkit/operkit/smp/internal/schema"
)

// unnamed is a place whose objects have no names, so that rows can be short.
func unnamed(place schema.Place) schema.Place {
	if place.Type == nil {
		return place
	}
	bare := *place.Type
	bare.Name = "object"
	bare.Values = unnamed(bare.Values)
	place.Type = &bare
	return place
}

// firstField is the first field of the first type of a description.
func firstField(text string) string {
	return strings.SplitAfter(text, "\n")[1]
}
