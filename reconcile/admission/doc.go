// Package admission answers the API server's questions about objects before they are stored: may this object be
// created, changed or deleted, and which fields does it still need?
//
//	hooks := admission.New[Shop](shops)
//	hooks.Mutate("colour", func(ctx context.Context, r *admission.Request[Shop]) error {
//		r.Object.Spec.Colour = cmp.Or(r.Object.Spec.Colour, "green")
//		return nil
//	})
//	hooks.Validate("size", func(ctx context.Context, r *admission.Request[Shop]) error {
//		if r.Old != nil && r.Object.Spec.Size < r.Old.Spec.Size {
//			return field.Forbidden(field.NewPath("spec", "size"), "a shop can't shrink")
//		}
//		return nil
//	})
//
// A rule that CEL can express needs no server, see package rule; use a webhook where CEL can't: for what depends on
// other objects, or on Go code.
//
// # Answers
//
// A function that returns nil allows the request. What denies it is an error that is a field.Error, or several as
// joined errors: they are answered as the API server itself answers mistakes in fields; one of Deny; one of package
// apierrors, with its code and reason; or a request.Configuration error. Any other error is a mistake of the program: its
// text goes to the log, and not to the sender of the request, since it may hold secrets. The request is denied with
// the code 500. A panic is answered with the HTTP status 500, which isn't an answer to the request: the API server then
// does what the failure policy says.
//
// All functions of Validate are called, so that a request shows all its mistakes at once. The functions of Mutate are
// called in their order until one denies the request, and each gets the object as the one before it has left it.
//
// # What a mutator may change
//
// The change that a function makes to Request.Object is answered as a JSON patch against the object of the request.
// Fields that T doesn't have stay. The identity of the object, and what belongs to the API server, can't be changed:
// kind, namespace, name, uid, resourceVersion, generation, times, and managedFields.
package admission
