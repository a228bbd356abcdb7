package cluster

// unpacking is one object that is being unpacked.
type unpacking struct {
	// texts are those of the holes that are still to come.
	texts string
}

func (u *unpacking) text() string {
	length, size := uint64(0), 0
	for shift := 0; ; shift += 7 { // as binary.Uvarint, which takes no string
		digit := u.texts[size]
		size++
		length |= uint64(digit&0x7f) << shift
		if digit < 0x80 {
			break
		}
	}
	text := u.texts[size : size+int(length)]
	u.texts = u.texts[size+int(length):]
	return text
}

// value is what was packed as this.
func (u *unpacking) value(packed any) any {
	switch v := packed.(type) {
	case hole:
		return u.text()
	case *packedMap:
		return u.fields(v)
	case *packedList:
		items := make([]any, len(v.items))
		for i, item := range v.items {
			items[i] = u.value(item)
		}
		return items
	case *standing:
		return v.content
	}
	return packed
}

func (u *unpacking) fields(packed *packedMap) map[string]any {
	content := make(map[string]any, len(packed.values))
	for i, key := range packed.shape.keys {
		value := packed.values[i]
		if one, ok := value.(owned); ok {
			key, value = ownerKey+u.text()+ownerKeyEnd, one.value
		}
		content[key] = u.value(value)
	}
	return content
}
