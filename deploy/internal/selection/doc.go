// Package selection selects the objects of a kind of which a View shows only some.
package selection
