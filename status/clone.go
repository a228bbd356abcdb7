package status

// cloneMap copies a JSON-like document deeply; nil becomes an empty map. Values
// that JSON doesn't know are shared, they are never written to here.
func cloneMap(document map[string]any) map[string]any {
	result := make(map[string]any, len(document)+1)
	for key, value := range document {
		result[key] = clone(value)
	}
	return result
}

func clone(value any) any {
	switch value := value.(type) {
	case map[string]any:
		if value == nil {
			return value
		}
		return cloneMap(value)
	case []any:
		if value == nil {
			return value
		}
		result := make([]any, len(value))
		for i, element := range value {
			result[i] = clone(element)
		}
		return result
	case []map[string]any:
		if value == nil {
			return value
		}
		result := make([]map[string]any, len(value))
		for i, element := range value {
			if element != nil {
				result[i] = cloneMap(element)
			}
		}
		return result
	}
	return value
}
