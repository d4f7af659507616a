/** The address of the service: the page's own, which may have a path before it. */
export const SERVICE = location.origin + location.pathname.replace(/\/[^/]*$/, '')
